#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace mqbridge::rsp {

std::string shorten(std::string_view payload, std::size_t limit) {
  std::string text;
  for (const char byte : payload) {
    if (text.size() >= limit)
      return text + "...";
    if (byte >= 0x20 && byte < 0x7f && byte != '\\')
      text += byte;
    else
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

void PacketHistory::add(std::string_view arrow, std::string_view payload) {
  Entry& entry = ring_[count_++ % ring_.size()];
  entry.arrow = arrow;
  entry.kept = std::min(payload.size(), kept_bytes);
  std::copy_n(payload.begin(), entry.kept, entry.start.begin());
}

std::string PacketHistory::text() const {
  std::string text;
  const std::size_t kept = std::min(count_, ring_.size());
  for (std::size_t i = count_ - kept; i < count_; ++i) {
    const Entry& entry = ring_[i % ring_.size()];
    text += text.empty() ? "" : ", ";
    text += entry.arrow;
    text += shorten({entry.start.data(), entry.kept});
  }
  return text;
}

} // namespace mqbridge::rsp
