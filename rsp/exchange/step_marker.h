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

/// No read of memory is answered so. GDB takes OK for nothing, too.
constexpr bool is_step_answer(std::string_view reply) {
  return reply.empty() || reply == "OK";
}

/// Behind other requests, which may well be answered with nothing, it takes a second question with
/// another answer. Whoever acknowledges nothing any more has said OK to this one once, and says it
/// again (GDB manual, "QStartNoAckMode").
inline constexpr std::string_view second_step_question = "QStartNoAckMode";
inline constexpr std::string_view second_step_answer = "OK";

constexpr bool is_step_question(std::string_view request) {
  return request == step_question || request == second_step_question;
}

/// Both questions, at the end of an exchange: the answers are the right ones only where each
/// request before has had exactly one reply. A reply that came twice leaves the answer to the first
/// question for the second one; a lost one the other way round.
class StepCheck {
public:
  /// `mute`: the stub is known to answer the first question with nothing, and never with OK.
  explicit StepCheck(bool mute) : mute_(mute) {}

  /// Writes the next question into `payload`. False: both are asked.
  bool next(std::string& payload);
  /// The next answer. Error: stub.garbage, requests and replies do not pair.
  Result<void> take(std::string_view answer);

  bool passed() const { return answered_ == 2; }
  bool failed() const { return failed_; }
  /// Whether the first answer, once there, was nothing.
  bool mute() const { return mute_; }

private:
  bool mute_;
  bool failed_ = false;
  std::size_t asked_ = 0;
  std::size_t answered_ = 0;
};

/// The reply to a request behind which nothing may be asked, found behind both questions: no reply
/// to what was asked before ends in their answers.
class LastReply {
public:
  /// `request` detaches, and is never answered with nothing; or it is never answered with OK.
  /// `mute`: as of StepCheck.
  LastReply(std::string_view request, bool mute)
      : detaches_(request.starts_with('D')), mute_(mute) {}

  /// 0 and 1: in which order they are asked, so that an answer that comes twice is no reply.
  std::string_view question(std::size_t index) const;
  /// A reply as it comes: whether it is the one to the last request.
  bool take(std::string_view reply);

private:
  bool answers(std::size_t index, std::string_view reply) const;

  bool detaches_;
  bool mute_;
  std::size_t matched_ = 0;
};

} // namespace mqbridge::rsp
