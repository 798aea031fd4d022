#include "rsp/commands/qxfer.h"

#include "rsp/commands/hex.h"
#include "rsp/packet_history.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

constexpr std::size_t max_object = std::size_t{64} << 20;
/// What a reply needs besides the data: `$`, the letter, `#` and the checksum.
constexpr std::size_t framing = 5;
constexpr std::size_t max_piece = std::size_t{64} << 10;

Failure failed(const Client& client, std::string_view code, std::string_view object,
               std::size_t offset, std::string_view why) {
  return fail(code,
              fmt::format("qXfer:{}:read from {} at offset {:#x}: {}", object,
                          client.endpoint().text, offset, why),
              "look at what the stub says with --trace FILE");
}

} // namespace

Result<std::optional<std::string>> read_object(Client& client, std::string_view object,
                                               std::string_view annex) {
  const std::size_t piece = std::min(client.features().packet_size - framing, max_piece);
  std::string text;
  while (text.size() <= max_object) {
    auto reply = client.request(
        fmt::format("qXfer:{}:read:{}:{:x},{:x}", object, annex, text.size(), piece));
    if (!reply)
      return forward(std::move(reply));
    if (text.empty() && (reply->empty() || is_error_reply(*reply)))
      return std::optional<std::string>();
    const bool is_last = reply->starts_with('l');
    if (!is_last && !reply->starts_with('m')) {
      return failed(client, is_error_reply(*reply) ? "qxfer.failed" : "stub.garbage", object,
                    text.size(), fmt::format("the stub answered '{}'", shorten(*reply)));
    }
    text.append(*reply, 1);
    if (is_last)
      return std::optional<std::string>(std::move(text));
    if (reply->size() == 1) {
      return failed(client, "stub.garbage", object, text.size(),
                    "the stub says that more follows, but sends nothing");
    }
  }
  return failed(client, "qxfer.too_large", object, text.size(), "it does not end");
}

} // namespace mqbridge::rsp
