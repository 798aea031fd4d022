// Core files: headers, notes, and the memory that they and the mapped files have. Input: the core.

#include "host/process/core/core_agreement.h"
#include "host/process/core/core_environment.h"
#include "host/process/core/core_memory.h"
#include "tests/builders/elf_builder.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/fuzz_input.h"

#include <array>

namespace mqbridge {
namespace {

using test::require;

/// A file of each platform that the process may have had loaded.
class Libraries {
public:
  Libraries() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      test::ElfBuilder elf(test::elf_shapes[i]);
      elf.add_data(std::string(0x2000, 't'));
      places_[i].replace(elf.bytes());
      const auto file = ElfFile::open(places_[i].path());
      require(file.has_value());
      files_[i] = *file;
    }
  }
  const ElfFile& of(const Platform& platform) const {
    const bool is_64 = platform.pointer_size == 8;
    return *files_[2 * static_cast<std::size_t>(!is_64) +
                   static_cast<std::size_t>(platform.byte_order == ByteOrder::big)];
  }

private:
  std::array<test::FuzzFile, std::size(test::elf_shapes)> places_;
  std::array<std::shared_ptr<const ElfFile>, std::size(test::elf_shapes)> files_;
};

template <class Ranges>
void require_apart(const Ranges& ranges) {
  const auto* before = static_cast<decltype(&*std::begin(ranges))>(nullptr);
  for (const auto& range : ranges) {
    require(range.first <= range.last);
    require(before == nullptr || before->last < range.first);
    before = &range;
  }
}

std::size_t read(Memory& memory, TargetAddress address) {
  std::array<std::byte, 64> bytes{};
  const auto count = memory.read(address, bytes);
  require(count && *count <= bytes.size());
  return *count;
}

void look_at(const std::shared_ptr<const CoreFile>& core, const ElfFile& library) {
  require_apart(core->segments());
  require_apart(core->notes().mappings);
  const auto map = memory_map_of(*core);
  require_apart(map.ranges);
  CoreMemory memory(core);
  for (const auto& segment : core->segments()) {
    const auto size = segment.last - segment.first; // one less than its bytes
    require(segment.present <= segment.saved && (segment.saved == 0 || segment.saved - 1 <= size));
    if (segment.present > 0)
      require(read(memory, segment.first) >= std::min<std::uint64_t>(segment.present, 64));
    if (segment.present <= size)
      require(read(memory, segment.first + segment.present) == 0); // and no zeros
  }
  static_cast<void>(program_of(*core, memory));
  static_cast<void>(initial_environment(*core, memory));
  if (!core->notes().mappings.empty()) {
    const LoadBias bias{core->notes().mappings[0].first.value - test::ElfBuilder::base,
                        core->platform().last_address()};
    static_cast<void>(agreement_with_core(library, bias, *core, memory));
    memory.add_file(library, bias);
  }
  for (const auto& segment : core->segments()) {
    if (segment.writable && segment.present <= segment.last - segment.first)
      require(read(memory, segment.first + segment.present) == 0);
  }
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  static const test::FuzzFile place;
  static const Libraries libraries;
  place.replace({reinterpret_cast<const char*>(data), size});
  const auto core = CoreFile::open(place.path());
  if (core)
    look_at(*core, libraries.of((*core)->platform()));
  else
    test::require(!core.error().code.empty() && !core.error().message.empty());
  return 0;
}
