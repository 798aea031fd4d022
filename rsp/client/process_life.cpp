#include "rsp/client/process_life.h"

#include "rsp/packet/hex.h"

#include <fmt/format.h>

namespace mqbridge::rsp {

void ProcessLife::could_read(std::uint64_t address) {
  if (!readable_)
    readable_ = address;
}

std::string ProcessLife::question() const {
  return readable_ ? fmt::format("m{:x},1", *readable_) : std::string();
}

void ProcessLife::take(std::string_view answer) {
  ended_ |= is_error_reply(answer);
}

} // namespace mqbridge::rsp
