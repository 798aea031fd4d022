#include "host/bridge/symbol_questions.h"

#include <utility>

namespace mqbridge {
namespace {

constexpr std::string_view offer = "qSymbol::";
constexpr std::string_view name = "qSymbol:";

} // namespace

Result<std::string> SymbolQuestions::answer(const std::string& packet) {
  const bool offers = packet == offer;
  const bool says_unknown = !offers && packet.starts_with(offer);
  if (offers && !unknown_.empty()) {
    guessed_ = true;
    return unknown_;
  }
  if (std::exchange(guessed_, false)) {
    if (says_unknown)
      return "OK";
    auto question = stub_.request(offer); // the symbol is there now
    if (!question || *question != std::exchange(unknown_, ""))
      return question;
  }
  const std::string asked = std::exchange(asked_, "");
  auto reply = stub_.request(packet);
  if (!reply)
    return reply;
  if (says_unknown && *reply == "OK")
    unknown_ = asked;
  if (offers && reply->starts_with(name))
    asked_ = *reply;
  return reply;
}

void SymbolQuestions::forget() {
  asked_.clear();
  unknown_.clear();
  guessed_ = false;
}

} // namespace mqbridge
