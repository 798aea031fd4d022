// The memory of a process, corrupt by definition: auxiliary vector, ELF and program headers, the
// dynamic linker's lists, build-ids. Input: the length of the vector (2 bytes), the vector,
// then pieces of memory: address and length (2 bytes each), the bytes.

#include "host/process/link_map.h"
#include "host/process/memory_image.h"
#include "host/process/platform_probe.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/fake_memory.h"

#include <elf.h>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;

constexpr std::uint64_t most_bytes_asked = std::uint64_t{256} << 20;

template <class T>
void check(const Result<T>& result) {
  require(result || (!result.error().code.empty() && !result.error().message.empty()));
}

/// Most addresses are small, so that a fuzzer makes pointers that lead somewhere.
FakeMemory read_pieces(FuzzInput& input) {
  FakeMemory memory;
  while (!input.empty()) {
    const auto address = input.number(2);
    const auto bytes = input.take(input.number(2));
    memory.put({address}, {bytes.begin(), bytes.end()});
  }
  return memory;
}

void look_at(Memory& memory, const AuxiliaryVector& auxv) {
  const auto platform = probe_platform(memory, auxv);
  check(platform);
  if (!platform)
    return;
  const auto executable = read_executable_headers(memory, *platform, auxv);
  check(executable);
  if (!executable)
    return;
  const auto objects = read_r_debug(memory, *platform, *executable);
  check(objects);
  if (!objects)
    return;
  std::vector<LoadedHeader> headers = {{executable->elf_header, executable->bias}};
  for (const auto& object : *objects)
    headers.push_back({object.bias({0}), object.bias});
  const auto ids = read_build_ids(memory, *platform, headers);
  check(ids);
  require(!ids || ids->size() == headers.size());
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  test::FuzzInput input(data, size);
  const auto length = input.number(2);
  const auto auxv = AuxiliaryVector::parse(input.take(length));
  if (!auxv)
    return 0;
  FakeMemory memory = read_pieces(input);
  look_at(memory, *auxv);
  test::require(memory.bytes_asked < most_bytes_asked);
  return 0;
}
