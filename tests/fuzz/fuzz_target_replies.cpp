// What a stub says of a process: stop replies, the auxiliary vector, the list of libraries, an
// environment. The first byte chooses which.

#include "host/target/auxv.h"
#include "host/target/environment.h"
#include "host/target/link_map.h"
#include "rsp/commands/stop.h"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0]) {
  case 's':
    if (auto reply = mqbridge::rsp::parse_stop_reply(bytes);
        !reply && reply.error().message.empty())
      std::abort();
    break;
  case 'a':
    if (auto auxv = mqbridge::AuxiliaryVector::parse(bytes); auxv && auxv->values.empty())
      std::abort();
    break;
  case 'l':
    if (auto list = mqbridge::parse_libraries_svr4(bytes, ~std::uint64_t{0}); !list && list.error().hint.empty())
      std::abort();
    break;
  default:
    if (auto found = mqbridge::parse_environment(bytes); found.rank && *found.rank < 0)
      std::abort();
  }
  return 0;
}
