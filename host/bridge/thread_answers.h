#pragma once

#include "rsp/exchange/connection.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

/// What a debugger asks of one thread after the other, such as their registers: it selects a thread
/// and asks, two round trips each. The selection waits for the next packet that is about a thread,
/// and when a question has come for a second thread, all threads are asked. Answers are kept until
/// the process runs, or something is changed. One thread.
class ThreadAnswers {
public:
  explicit ThreadAnswers(rsp::Connection& stub) : stub_(stub) {}

  /// Whether the packet is such a question.
  static bool is_question(std::string_view packet);
  /// The debugger has selected a thread of the process that was selected before: "Hgp1f.20".
  void select(std::string selection) { selection_ = std::move(selection); }
  /// It has selected so, and the stub knows it.
  void selected(std::string selection);
  /// The stub learns the selection, if it waits. False: it refuses it. Errors: those of Connection;
  /// so below.
  Result<bool> settle();
  /// The reply to a question. `threads`: all that there are, as selections.
  Result<std::string> answer(const std::string& question, const std::vector<std::string>& threads);
  void forget();
  /// Others have selected something.
  void forget_selection() { known_selection_.clear(); }

private:
  Result<void> ask_all(const std::string& question, const std::vector<std::string>& threads);

  rsp::Connection& stub_;
  std::string selection_;       ///< the debugger's last one; empty: not known
  std::string known_selection_; ///< the stub's
  std::map<std::pair<std::string, std::string>, std::string> answers_; ///< by selection, question
  std::set<std::string> asked_;                                        ///< questions of one thread
};

/// The selections of the threads in a list (qXfer:threads:read).
std::vector<std::string> threads_in(std::string_view list);

} // namespace mqbridge
