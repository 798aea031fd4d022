#pragma once

#include "host/stacks/python/read_python.h"
#include "tests/support/fake_memory.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Places in CPython's structures, as gcc and gdb give them of its headers; PythonLayout works them
/// out of the members.
struct PythonOffsets {
  int interpreter, first_thread, next_thread, its_interpreter, cframe, frame_of_cframe;
  int code, previous, instruction, end; ///< of a frame; `end`: is_entry or owner
  int size, first_line, file, name, lines, instructions;
  int length, state, ascii, other;
  int bytes;
};

struct PythonCase {
  std::string name;
  std::uint64_t release;
  Platform platform;
  PythonOffsets offsets;
};
void PrintTo(const PythonCase& one, std::ostream* out);

/// 3.11 and 3.12, on four platforms.
const std::vector<PythonCase>& python_cases();

/// Memory of an interpreter with one thread: <module> calls, through C, what calls inner.
class FakePython {
public:
  static constexpr std::uint64_t interpreter = 0x11000;
  static constexpr std::uint64_t state = 0x12000;
  static constexpr std::uint64_t frames = 0x13000; ///< 0x100 bytes each
  static constexpr std::uint64_t codes = 0x14000;  ///< 0x400 bytes each
  static constexpr std::uint64_t texts = 0x16000;
  static constexpr std::uint64_t tables = 0x18000;
  static constexpr std::uint64_t cframe = 0x70000; ///< on the C stack
  static constexpr PythonTypes types = {{0x20000}, {0x20100}, {0x20200}};

  explicit FakePython(const PythonCase& is);

  Result<PythonThreads> read() { return read(memory); }
  Result<PythonThreads> read(Memory& from) const;
  void put(std::uint64_t address, std::uint64_t value, std::size_t size);

  FakeMemory memory;
  std::vector<std::pair<std::uint64_t, std::size_t>> put_there; ///< address and size of integers

private:
  void word(std::uint64_t base, int offset, std::uint64_t value);
  void add_text(std::uint64_t at, const std::vector<std::uint32_t>& letters);
  void add_code(std::uint64_t index, const std::vector<std::uint32_t>& name);
  void add_frame(std::uint64_t at, std::uint64_t code, std::uint64_t previous,
                 std::uint64_t instruction, std::uint64_t end);
  bool is_big() const { return is_.platform.byte_order == ByteOrder::big; }

  const PythonCase& is_;
};

} // namespace mqbridge
