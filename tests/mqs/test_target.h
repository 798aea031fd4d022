#pragma once

#include "host/memory/platform.h"
#include "host/mqs/walk.h"
#include "host/process/image_set.h"
#include "tests/support/fake_memory.h"

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// 32 and 64 bits, little- and big-endian.
const std::vector<Platform>& test_platforms();
/// "le64" and so on, for the names of tests.
std::string platform_name(const Platform& platform);
void PrintTo(const Platform& platform, std::ostream* out);

/// The program that runs debug DLLs.
struct TestWorker {
  std::string program;
  bool sandboxed = true;
};
/// As it is released. If MQBRIDGE_TEST_OUTSIDE is set: sanitized_worker().
TestWorker test_worker();
/// Of a sanitized build, the sanitized one, which needs to be outside of the sandbox.
TestWorker sanitized_worker();

/// One image: `file` of this machine, as the target's `target_path`.
ImageSet images_of(const std::string& file, const std::string& target_path, LoadBias bias = {});

/// Layouts given by a test.
class FakeTypes final : public TypeSource {
public:
  /// Fields of the sizes given, aligned as a C compiler does.
  void add(const std::string& name, std::vector<TypeField> fields);
  /// A layout that is not what C compilers of a common psABI make.
  void add(TypeLayout layout);
  void remove(const std::string& name) { types_.erase(name); }
  Result<const TypeLayout*> find(std::string_view name) override;

private:
  std::map<std::string, TypeLayout, std::less<>> types_;
};

struct TestOperation {
  OpClass op_class = OpClass::receive;
  std::int64_t rank = 0;
  std::int64_t tag = 0;
  std::int64_t length = 0;
  std::uint64_t buffer = 0;
};

struct TestCommunicator {
  std::uint64_t id = 0;
  std::int64_t rank = 0;
  std::string name;
  std::vector<int> group;
  std::vector<TestOperation> operations;
};

/// A process that is only bytes: communicators and operations in lists, laid out as a C compiler
/// for `platform` would, which dlls/list.c reads.
class TestTarget {
public:
  explicit TestTarget(const Platform& platform,
                      const std::vector<TestCommunicator>& communicators = {});

  /// A walk with a DLL of tests/mqs/dlls.
  WalkRequest request(const std::string& dll);

  /// That many more fields at the end of "struct test_communicator", in which nothing is.
  void widen_communicator(std::size_t fields);

  /// Where the list of communicators begins.
  void set_root(std::uint64_t address);

  Platform platform;
  FakeMemory memory;
  ImageSet images;

private:
  std::uint64_t place(std::size_t size);
  void write(std::span<std::uint8_t> to, std::uint64_t value, int size) const;
  void pointer(std::uint64_t address, std::uint64_t value);
  void integer(std::uint64_t address, std::int64_t value, int size);
  std::uint64_t put(const TestCommunicator& communicator, std::uint64_t next);
  std::uint64_t put(const TestOperation& operation, std::uint64_t next);

  std::shared_ptr<FakeTypes> types_;
  std::vector<std::uint8_t> heap_; ///< until it is put into `memory`
};

} // namespace mqbridge
