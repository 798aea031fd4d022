#include "rsp/codes.h"
#include "rsp/exchange/connection.h"
#include "rsp/exchange/step_marker.h"
#include "rsp/limits.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

// How it is known that replies are those to the requests that they came for, outside of reads of
// memory (commands/memory_burst.h).

namespace mqbridge::rsp {
namespace {

/// Whether the request leaves the stub the same if it comes twice, apart from a file that stays
/// open.
bool may_be_repeated(std::string_view payload) {
  constexpr std::array<std::string_view, 6> once{"C",       "D",     "c", "qsThreadInfo",
                                                 "vAttach", "vCont;"};
  return std::none_of(once.begin(), once.end(),
                      [payload](std::string_view name) { return payload.starts_with(name); });
}

} // namespace

std::optional<StepCheck> Connection::step_check() const {
  return pairing_.checks() && no_ack() ? std::optional(StepCheck(pairing_.mute())) : std::nullopt;
}

/// Gets into step if a reply was given up: it may still come, or be lost.
Result<void> Connection::get_into_step() {
  if (!pairing_.checks() || !pairing_.out_of_step() || running())
    return {};
  return resynchronise();
}

/// Makes sure that the connection is in step, before a request whose reply cannot be checked.
Result<void> Connection::confirm_step() {
  if (pairing_.confirmed() || !pairing_.checks())
    return {};
  auto confirmed = burst({});
  return confirmed ? Result<void>() : forward(std::move(confirmed));
}

Result<std::string> Connection::request(std::string_view payload) {
  const std::string one(payload);
  if (pairing_.checks() && no_ack()) {
    auto replies = burst({&one, 1});
    if (!replies)
      return forward(std::move(replies));
    return std::move(replies->front());
  }
  if (auto in_step = get_into_step(); !in_step)
    return forward(std::move(in_step));
  for (int attempt = 1;; ++attempt) {
    auto reply = request_once(payload);
    if (!reply)
      return reply;
    auto counts = settle({&one, 1}, !in_doubt(), attempt);
    if (!counts)
      return forward(std::move(counts));
    if (*counts)
      return reply;
  }
}

/// Whether the replies count. If they do not, the connection is in step again afterwards, and the
/// same requests may be sent once more.
Result<bool> Connection::settle(std::span<const std::string> payloads, bool paired, int attempt) {
  if (paired || !pairing_.checks())
    return true;
  if (auto in_step = resynchronise(); !in_step)
    return forward(std::move(in_step));
  if (attempt < limits::unpaired_exchanges &&
      std::all_of(payloads.begin(), payloads.end(), may_be_repeated))
    return false;
  return link_.failure(
      codes::stub_garbage,
      fmt::format("replies do not fit the requests they should answer, such as '{}'",
                  payloads.empty() ? step_question : payloads.front()),
      "what passes the bytes on between here and the stub damages them: connect without "
      "it; --trace FILE shows every packet");
}

Result<std::vector<std::string>> Connection::request_last(std::span<const std::string> before,
                                                          std::string_view payload,
                                                          std::chrono::milliseconds silence) {
  if (auto ready = begin(); !ready)
    return forward(std::move(ready));
  ReplyWait wait(payload, std::min(silence, limits_.silence()));
  auto replies =
      no_ack() && pairing_.checks() ? last_reply(before, wait) : last_reply_acked(before, wait);
  if (!replies)
    pairing_.lost_step(); // the reply may still come
  link_.flush();
  return replies;
}

Connection::Replies Connection::last_reply(std::span<const std::string> before, ReplyWait& wait) {
  LastReply last(wait.request, pairing_.mute());
  std::vector<std::string> payloads(before.begin(), before.end());
  payloads.emplace_back(last.question(0));
  payloads.emplace_back(last.question(1));
  payloads.emplace_back(wait.request);
  for (const std::string& payload : payloads) {
    if (auto asked = dialogue_.ask(payload); !asked)
      return forward(std::move(asked));
  }
  link_.flush();
  std::vector<std::string> replies; // at most one for each request is kept, whatever comes
  for (std::size_t come = 1;; ++come) {
    auto reply = dialogue_.reply(wait);
    if (!reply)
      return forward(std::move(reply));
    const bool is_last = last.take(*reply);
    if (is_last || replies.size() < before.size())
      replies.emplace_back(*reply);
    if (!is_last)
      continue;
    const bool paired = come == payloads.size();
    if (!paired)
      pairing_.lost_step();
    pairing_.all_answered();
    return paired ? replies : std::vector{std::move(replies.back())};
  }
}

/// For stubs in ack mode, or if nothing is known of the stub yet.
Connection::Replies Connection::last_reply_acked(std::span<const std::string> before,
                                                 ReplyWait& wait) {
  std::vector<std::string> replies;
  for (const std::string& payload : before) {
    auto reply = dialogue_.exchange(payload);
    if (!reply)
      return forward(std::move(reply));
    replies.emplace_back(*reply);
  }
  if (auto asked = dialogue_.ask(wait.request); !asked)
    return forward(std::move(asked));
  link_.flush();
  const bool must_be_acked = pairing_.checks() && !no_ack() && pairing_.stub_acks();
  const auto reply = dialogue_.reply(wait);
  if (!reply)
    return Failure(reply.error());
  if (must_be_acked && !wait.acked)
    return link_.failure(
        codes::stub_garbage,
        fmt::format("the reply to '{}' may be that to another request", wait.request),
        "what passes the bytes on between here and the stub damages them: connect "
        "without it; --trace FILE shows every packet");
  replies.emplace_back(*reply);
  return replies;
}

} // namespace mqbridge::rsp
