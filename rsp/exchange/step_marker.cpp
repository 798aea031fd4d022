#include "rsp/exchange/step_marker.h"

#include "rsp/codes.h"
#include "rsp/packet/packet_history.h"

#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

bool answers_first_question(std::string_view reply, bool mute) {
  return mute ? reply.empty() : is_step_answer(reply);
}

} // namespace

bool StepCheck::next(std::string& payload) {
  if (asked_ == 2)
    return false;
  payload = asked_++ == 0 ? step_question : second_step_question;
  return true;
}

Result<void> StepCheck::take(std::string_view answer) {
  const bool first = answered_++ == 0;
  const bool right = first ? answers_first_question(answer, mute_) : answer == second_step_answer;
  mute_ |= first && answer.empty();
  if (right)
    return {};
  failed_ = true;
  return fail(codes::stub_garbage,
              fmt::format("replies do not fit the requests they should answer: '{}' was answered "
                          "with '{}'",
                          first ? step_question : second_step_question, shorten(answer)),
              "what passes the bytes on between here and the stub damages them: connect without "
              "it; --trace FILE shows every packet");
}

std::string_view LastReply::question(std::size_t index) const {
  return (index == 0) == detaches_ ? second_step_question : step_question;
}

bool LastReply::answers(std::size_t index, std::string_view reply) const {
  return question(index) == step_question ? answers_first_question(reply, mute_)
                                          : reply == second_step_answer;
}

bool LastReply::take(std::string_view reply) {
  if (matched_ < 2) {
    matched_ = answers(matched_, reply) ? matched_ + 1 : (answers(0, reply) ? 1 : 0);
    return false;
  }
  return detaches_ ? !reply.empty() : reply != second_step_answer;
}

} // namespace mqbridge::rsp
