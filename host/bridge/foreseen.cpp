#include "host/bridge/foreseen.h"

#include <cstddef>
#include <utility>

namespace mqbridge {

Result<std::vector<std::string>> Foreseen::ask(const std::vector<std::string>& packets) {
  auto replies = stub_.burst(packets);
  for (std::size_t i = 0; replies && i < packets.size(); ++i)
    replies_.keep(packets[i], (*replies)[i]);
  return replies;
}

Result<std::string> Foreseen::answer(const std::string& packet) {
  auto known = replies_.take(packet);
  return known ? Result<std::string>(std::move(*known)) : stub_.request(packet);
}

} // namespace mqbridge
