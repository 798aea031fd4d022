// What a stub says of a process, as host/target reads it. The first byte chooses which text it is.

#include "host/memory/memory_map_parser.h"
#include "host/mpi/launch_environment.h"
#include "host/process/auxv.h"
#include "host/process/image_set.h"
#include "host/process/link_map.h"
#include "host/process/memory_image.h"
#include "host/process/platform_probe.h"
#include "host/process/target_description.h"
#include "tests/fuzz/fuzz_input.h"

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;

void auxiliary_vector(std::string_view bytes) {
  const auto auxv = AuxiliaryVector::parse(bytes);
  if (!auxv)
    return;
  require(!auxv->values.empty());
  static_cast<void>(elf_header_candidates(*auxv));
  for (const auto& range : stack_of(*auxv))
    require(range.first <= range.last);
}

void in_order(const MemoryMap& map) {
  for (std::size_t i = 0; i < map.ranges.size(); ++i) {
    require(map.ranges[i].first <= map.ranges[i].last);
    require(i == 0 || map.ranges[i - 1].last < map.ranges[i].first);
  }
}

void memory_map(FuzzInput& input) {
  Platform platform;
  const auto flags = input.number(1);
  if ((flags & 1) != 0)
    platform.set_data_model(DataModel::ilp32);
  const auto map = parse_memory_map(input.rest(), (flags & 2) != 0, platform);
  if (map)
    in_order(*map);
  else
    require(!map.error().code.empty());
}

void ranges(FuzzInput& input) {
  std::vector<MappedRange> any;
  while (!input.empty() && any.size() < 100) {
    const auto one = input.number(8);
    const auto other = input.number(8);
    any.push_back({.first = {std::min(one, other)}, .last = {std::max(one, other)}});
  }
  in_order(map_of_ranges(std::move(any)));
}

void description(std::string_view xml) {
  const auto parsed = parse_target_description(xml);
  static_cast<void>(describes(parsed.architecture, Platform{}));
  static_cast<void>(check_architecture(Platform{}, parsed.architecture));
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  test::FuzzInput input(data, size);
  switch (input.number(1)) {
  case 'a':
    auxiliary_vector(input.rest());
    break;
  case 'l':
    if (auto list = parse_libraries_svr4(input.rest(), ~std::uint64_t{0}); !list)
      test::require(!list.error().hint.empty());
    break;
  case 'm':
    memory_map(input);
    break;
  case 'r':
    ranges(input);
    break;
  case 'd':
    description(input.rest());
    break;
  case 'n':
    static_cast<void>(find_build_id(input.rest_bytes(), ByteOrder::little));
    static_cast<void>(find_build_id(input.rest_bytes(), ByteOrder::big));
    break;
  default:
    if (auto found = parse_environment(input.rest()); found.rank)
      test::require(*found.rank >= 0);
  }
  return 0;
}
