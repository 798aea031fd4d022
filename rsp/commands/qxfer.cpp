#include "rsp/commands/qxfer.h"

#include "rsp/codes.h"
#include "rsp/commands/short_pieces.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <vector>

namespace mqbridge::rsp {
namespace {

std::size_t limit_of(std::string_view object) {
  const auto* known =
      std::find_if(std::begin(limits::objects), std::end(limits::objects),
                   [object](const limits::ObjectLimit& each) { return each.object == object; });
  return known == std::end(limits::objects) ? limits::other_object : known->bytes;
}

/// One object, read from its start to its end.
class ObjectReader {
public:
  ObjectReader(Client& client, std::string_view object, std::string_view annex)
      : client_(client), object_(object), annex_(annex), limit_(limit_of(object)),
        piece_(object_piece_size(client.features())) {}

  Result<std::optional<std::string>> read() {
    while (!at_end_ && text_.size() <= limit_) {
      auto there = read_batch();
      if (!there)
        return forward(std::move(there));
      if (!*there)
        return std::optional<std::string>();
    }
    if (text_.size() > limit_)
      return failed("qxfer.too_large", fmt::format("it has more than {} bytes", limit_));
    return std::optional(std::move(text_));
  }

private:
  /// Asks for the next pieces. False: the stub does not have the object.
  Result<bool> read_batch() {
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < pipelined_; ++i)
      requests.push_back(
          object_piece_request(client_.features(), object_, annex_, text_.size() + i * piece_));
    auto replies = client_.burst(requests);
    if (!replies)
      return forward(std::move(replies));
    for (const std::string& reply : *replies) {
      if (text_.empty() && (reply.empty() || is_error_reply(reply)))
        return false;
      auto joins_on = take(reply);
      if (!joins_on)
        return forward(std::move(joins_on));
      if (at_end_)
        return true;
      if (!*joins_on && !short_pieces_.take(text_.size()))
        return failed(codes::stub_trickles, "it comes byte by byte, and does not end");
      if (!*joins_on) { // nor do the pieces behind it
        pipelined_ = 1;
        return true;
      }
    }
    if (client_.asks_ahead())
      pipelined_ = std::min(2 * pipelined_, limits::pieces_under_way);
    return true;
  }

  /// Takes a piece. True: it was as long as asked for, and the next piece follows it without a gap.
  Result<bool> take(std::string_view reply) {
    at_end_ = reply.starts_with('l');
    if (!at_end_ && !reply.starts_with('m')) {
      return failed(is_error_reply(reply) ? "qxfer.failed" : codes::stub_garbage,
                    fmt::format("the stub answered '{}'", shorten(reply)));
    }
    if (!at_end_ && reply.size() == 1)
      return failed(codes::stub_garbage, "the stub says that more follows, but sends nothing");
    text_ += reply.substr(1);
    return reply.size() - 1 == piece_;
  }

  Failure failed(std::string_view code, std::string_view why) const {
    return fail(code,
                fmt::format("qXfer:{}:read from {} at offset {:#x}: {}", object_,
                            client_.endpoint().text, text_.size(), why),
                "look at what the stub says with --trace FILE");
  }

  Client& client_;
  std::string_view object_;
  std::string_view annex_;
  std::size_t limit_;
  std::size_t piece_;
  ShortPieces short_pieces_;
  std::size_t pipelined_ = 1;
  bool at_end_ = false;
  std::string text_;
};

} // namespace

Result<std::optional<std::string>> read_object(Client& client, std::string_view object,
                                               std::string_view annex) {
  return ObjectReader(client, object, annex).read();
}

} // namespace mqbridge::rsp
