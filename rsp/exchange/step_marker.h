#pragma once

#include "rsp/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Asked between reads of memory, to see that replies and requests still pair: a reply that came
/// twice or got lost shows as the wrong answer to this one. Every stub answers an unknown `v`
/// packet with nothing, and GDB refuses to work with one that does not (GDB manual,
/// "vMustReplyEmpty").
inline constexpr std::string_view step_question = "vMustReplyEmpty";

/// Whether this answers step_question: no read of memory is answered so. Like GDB, this takes OK
/// for nothing.
constexpr bool is_step_answer(std::string_view reply) {
  return reply.empty() || reply == "OK";
}

/// Other requests may also be answered with nothing. Behind them a second question with another
/// answer is needed. A stub that has stopped acknowledging has said OK to this one, and says so
/// again (GDB manual, "QStartNoAckMode").
inline constexpr std::string_view second_step_question = "QStartNoAckMode";
inline constexpr std::string_view second_step_answer = "OK";

constexpr bool is_step_question(std::string_view request) {
  return request == step_question || request == second_step_question;
}

/// Both questions, at the end of an exchange. Their answers are right only if each request before
/// had exactly one reply: if a reply came twice, the second question meets the answer to the first;
/// if one was lost, the first question meets the answer to the second.
class StepCheck {
public:
  /// `mute`: the stub is known to answer the first question with nothing, never with OK.
  explicit StepCheck(bool mute) : mute_(mute) {}

  /// Writes the next question into `payload`. False: both are asked.
  bool next(std::string& payload);
  /// The next answer. Error: stub.garbage, requests and replies do not pair.
  Result<void> take(std::string_view answer);

  bool passed() const { return answered_ == 2; }
  bool failed() const { return failed_; }
  /// Whether the first answer was nothing, once it is there.
  bool mute() const { return mute_; }

private:
  bool mute_;
  bool failed_ = false;
  std::size_t asked_ = 0;
  std::size_t answered_ = 0;
};

/// Finds the reply to a request behind which nothing may be asked. Both questions are asked before
/// it: no reply to an earlier request ends in their two answers.
class LastReply {
public:
  /// `request` either detaches, and is never answered with nothing; or it is never answered with
  /// OK. `mute`: as for StepCheck.
  LastReply(std::string_view request, bool mute)
      : detaches_(request.starts_with('D')), mute_(mute) {}

  /// `index` is 0 or 1. The order of the questions depends on the request, so that an answer that
  /// comes twice is no reply.
  std::string_view question(std::size_t index) const;
  /// Takes the next reply: whether it is the one to the last request.
  bool take(std::string_view reply);

private:
  bool answers(std::size_t index, std::string_view reply) const;

  bool detaches_;
  bool mute_;
  std::size_t matched_ = 0;
};

} // namespace mqbridge::rsp
