// Type packs: what is accepted survives being written and read again.

#include "host/types/pack_parser.h"
#include "host/types/type_pack.h"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto pack = mqbridge::parse_type_pack(text, "fuzz");
  if (!pack)
    return 0;
  const auto written = mqbridge::write_type_pack(*pack);
  const auto again = mqbridge::parse_type_pack(written, "fuzz");
  if (!again || mqbridge::write_type_pack(*again) != written)
    std::abort();
  return 0;
}
