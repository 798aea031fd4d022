// What mqbridge reads of CPython's own objects in a target's memory, where some of them are
// damaged. Input: a byte for release and platform; then pieces of damage: which integer, and eight
// bytes.

#include "tests/fuzz/fuzz_input.h"
#include "tests/mpi/damaged_memory.h"
#include "tests/stacks/fake_python.h"

#include <list>
#include <memory>

namespace mqbridge {
namespace {

constexpr std::size_t most_python_damages = 16;
/// What so little needs, and a large margin.
constexpr std::uint64_t most_python_bytes = std::uint64_t{1} << 26;

std::vector<std::unique_ptr<FakePython>> make_pythons() {
  std::vector<std::unique_ptr<FakePython>> pythons;
  for (const PythonCase& each : python_cases())
    pythons.push_back(std::make_unique<FakePython>(each));
  return pythons;
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  using test::require;
  static const auto pythons = make_pythons();
  test::FuzzInput input(data, size);
  FakePython& python = *pythons[input.number(1) % pythons.size()];
  std::list<DamagedMemory> damages;
  for (std::size_t i = 0; i < most_python_damages && !input.empty(); ++i) {
    const auto [address, width] = python.put_there[input.number(1) % python.put_there.size()];
    std::vector<std::byte> damage(width);
    std::uint64_t value = input.number(8);
    for (std::byte& byte : damage) {
      byte = static_cast<std::byte>(value);
      value >>= 8;
    }
    Memory& below = damages.empty() ? static_cast<Memory&>(python.memory) : damages.back();
    damages.emplace_back(below, TargetAddress{address}, std::move(damage));
  }
  Memory& memory = damages.empty() ? static_cast<Memory&>(python.memory) : damages.back();
  python.memory.bytes_asked = 0;
  const auto found = python.read(memory);
  require(found && found->threads.size() <= 64);
  require(!damages.empty() || (found->lost == 0 && found->threads.size() == 1));
  for (const PythonThread& thread : found->threads)
    require(!thread.calls.empty());
  require(python.memory.bytes_asked <= most_python_bytes);
  return 0;
}
