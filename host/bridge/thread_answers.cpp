#include "host/bridge/thread_answers.h"

#include <algorithm>

namespace mqbridge {
namespace {

constexpr std::size_t most_threads = 1000;
constexpr std::size_t most_at_once = 64; ///< the debugger waits for all of them

} // namespace

bool ThreadAnswers::is_question(std::string_view packet) {
  return packet == "g" || packet.starts_with("qXfer:btrace-conf:read:");
}

void ThreadAnswers::selected(std::string selection) {
  selection_ = std::move(selection);
  known_selection_ = selection_;
}

Result<bool> ThreadAnswers::settle() {
  if (selection_ == known_selection_)
    return true;
  const auto reply = stub_.request(selection_);
  if (!reply)
    return Failure(reply.error());
  if (*reply != "OK")
    return false;
  known_selection_ = selection_;
  return true;
}

Result<std::string> ThreadAnswers::answer(const std::string& question,
                                          const std::vector<std::string>& threads) {
  const auto kept = [&] { return answers_.find({selection_, question}); };
  if (kept() != answers_.end())
    return kept()->second;
  const bool asks_all = !asked_.insert(question).second && stub_.no_ack();
  const auto asked = ask_all(question, asks_all ? threads : std::vector<std::string>());
  return asked ? Result<std::string>(kept()->second) : Failure(asked.error());
}

/// The selected thread is the last one that is asked: it stays selected.
Result<void> ThreadAnswers::ask_all(const std::string& question,
                                    const std::vector<std::string>& threads) {
  std::vector<std::string> selections;
  // Those behind it in the list first: a debugger goes through it in order, or backwards.
  const auto selected =
      static_cast<std::size_t>(std::ranges::find(threads, selection_) - threads.begin());
  for (std::size_t i = 1; i <= threads.size() && selections.size() + 1 < most_at_once; ++i)
    for (const std::size_t place : {selected + i, selected - i})
      if (place < threads.size() && !answers_.contains({threads[place], question}))
        selections.push_back(threads[place]);
  selections.push_back(selection_);
  std::vector<std::string> packets;
  for (const std::string& selection : selections) {
    if (selections.size() > 1 || selection != known_selection_)
      packets.push_back(selection);
    packets.push_back(question);
  }
  const auto replies = stub_.burst(packets);
  if (!replies)
    return Failure(replies.error());
  std::string known = known_selection_;
  for (std::size_t i = 0; i < packets.size(); ++i)
    if (packets[i] != question)
      known = (*replies)[i] == "OK" ? packets[i] : "";
    else if (!known.empty() || selection_.empty())
      answers_[{known, question}] = (*replies)[i];
  answers_.try_emplace({selection_, question}, "E01"); // the stub refuses the thread
  known_selection_ = known;
  return {};
}

void ThreadAnswers::forget() {
  answers_.clear();
  asked_.clear();
}

std::vector<std::string> threads_in(std::string_view list) {
  constexpr std::string_view name = " id=\"";
  std::vector<std::string> selections;
  for (auto at = list.find(name); at != list.npos && selections.size() <= most_threads;
       at = list.find(name, at)) {
    at += name.size();
    selections.push_back("Hg" + std::string(list.substr(at, list.find('"', at) - at)));
  }
  return selections;
}

} // namespace mqbridge
