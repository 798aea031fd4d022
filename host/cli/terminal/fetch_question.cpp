#include "host/cli/terminal/fetch_question.h"

#include "host/cli/commands/execute.h"
#include "host/disk/file_name.h"
#include "host/report/fitted_text.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience{30};

bool is_ours_to_read() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 &&
         ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

std::string wording(const FetchQuestion& question) {
  constexpr std::size_t shown = 4;
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, question.files.size()); ++i) {
    const auto& path = question.files[i];
    names += (i == 0 ? "" : ", ") + printable(file_name(path));
  }
  if (question.files.size() > shown)
    names += ", ...";
  return fmt::format("\nmqbridge: {}: not on this host: {} ({} in all)\n"
                     "Read them from the target, {:.1f} MB? It would be held {:.1f} s longer, and "
                     "is held while you think. A yes is for each target that needs no more. [y/N] ",
                     printable(question.endpoint), names, question.files.size(),
                     static_cast<double>(question.bytes) / 1e6,
                     static_cast<double>(question.held.count()) / 1000);
}

/// A line typed before `until`; empty: none.
std::string read_line(Clock::time_point until, const std::stop_token& stop) {
  std::string line;
  while (Clock::now() < until && !stop.stop_requested() && is_ours_to_read()) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, 100) <= 0)
      continue;
    char letter = 0;
    if (::read(STDIN_FILENO, &letter, 1) != 1 || letter == '\n')
      return line;
    line += letter;
  }
  return {};
}

} // namespace

std::function<bool(const FetchQuestion&)> ask_on_terminal(std::stop_token stop) {
  if (!is_ours_to_read())
    return {};
  return [stop = std::move(stop)](const FetchQuestion& question) {
    print_on_stderr(wording(question));
    auto until = Clock::now() + patience;
    if (question.answer_by)
      until = std::min(until, *question.answer_by);
    const auto answer = read_line(until, stop);
    if (answer.empty())
      print_on_stderr("no\n");
    return answer == "y" || answer == "Y" || answer == "yes";
  };
}

} // namespace mqbridge
