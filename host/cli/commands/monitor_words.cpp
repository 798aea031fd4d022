#include "host/cli/commands/monitor_words.h"

#include "host/launch/shell_words.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

namespace mqbridge {
namespace {

/// One word behind `monitor mpi`.
struct Word {
  std::string_view word;
  std::vector<std::string> command; ///< words of mqbridge
  bool whole_job = false;
  std::string_view help;
  std::vector<std::string_view> flags;          ///< that may follow
  std::vector<std::string_view> values;         ///< and those with a value
  std::vector<std::string_view> not_taken = {}; ///< of the user's options
};

std::span<const Word> words() {
  static const std::array<Word, 6> all{{
      {"queues",
       {"dump", "--no-analyze"},
       false,
       "pending sends and receives, unexpected messages",
       {"--summary", "--raw", "--stats", "--no-stacks", "--no-python"},
       {"--queue", "--comm", "--tag", "--peer", "--show", "--fetch-files", "--threads"}},
      {"comms",
       {"handles"},
       false,
       "the same as handles, which begins with the communicators",
       {"--full"},
       {"--fetch-files"}},
      {"stacks",
       {"stacks"},
       false,
       "the call stack, Python's functions, too",
       {"--no-python"},
       {"--threads", "--fetch-files"},
       {"--dll", "--types", "--config"}},
      {"verdict",
       {"why"},
       true,
       "why the job does not move: looks at the other ranks, too, and lets them run on",
       {"--full", "--stats"},
       {"--twice", "--fetch-files"}},
      {"handles",
       {"handles"},
       false,
       "communicators, requests, error handlers: all, or those named",
       {"--full", "--fortran"},
       {"--request", "--communicator", "--errhandler", "--status", "--fetch-files"}},
      {"vars",
       {"vars"},
       false,
       "MPI_T control and performance variables",
       {"--full"},
       {"--kind", "--verbosity", "--category", "--pattern", "--source", "--fetch-files"},
       {"--dll", "--config"}},
  }};
  return all;
}

std::string help(const MonitorScene& scene) {
  std::string text =
      fmt::format("monitor mpi WORD [OPTIONS]: of {}, as it stands\n", printable(scene.process));
  for (const Word& word : words()) {
    std::string options;
    for (const auto& names : {word.flags, word.values})
      for (const std::string_view name : names)
        options += fmt::format(" {}", name);
    text += fmt::format("  {:<8} {}\n           {}\n", word.word, word.help, options.substr(1));
  }
  return text + "The options are those of mqbridge dump, why, stacks, handles and vars.\n";
}

/// What is wrong with the words behind `word`; empty: nothing.
std::string fault_in(const Word& word, std::span<const std::string> given) {
  const auto is_among = [](const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto equals = given[i].find('=');
    const auto name = std::string_view(given[i]).substr(0, equals);
    const bool has_value = is_among(word.values, name);
    if (!has_value && (equals != std::string::npos || !is_among(word.flags, name)))
      return fmt::format("mpi {}: \"{}\" is none of its options; monitor mpi help lists them\n",
                         word.word, printable(given[i]));
    if (has_value && equals == std::string::npos && ++i == given.size())
      return fmt::format("mpi {}: {} has no value\n", word.word, printable(name));
  }
  return "";
}

} // namespace

MonitorAnswer monitor_answer(std::string_view line, const MonitorScene& scene) {
  auto given = split_words("monitor mpi", line);
  if (!given)
    return given.error().message + "\n";
  if (given->empty() || given->front() == "help")
    return help(scene);
  const auto word = std::ranges::find(words(), given->front(), &Word::word);
  if (word == words().end())
    return fmt::format("mpi: \"{}\" is none of its words; monitor mpi help lists them\n",
                       printable(given->front()));
  given->erase(given->begin());
  if (auto fault = fault_in(*word, *given); !fault.empty())
    return fault;
  std::vector<std::string> argv{scene.program.string()};
  const auto add = [&argv](const std::vector<std::string>& more) {
    argv.insert(argv.end(), more.begin(), more.end());
  };
  add(word->command);
  add({"--targets", word->whole_job ? scene.all_targets.string() : scene.own_targets.string()});
  for (auto own = scene.look_words.begin(); own != scene.look_words.end(); ++own)
    if (std::ranges::find(word->not_taken, *own) == word->not_taken.end())
      argv.push_back(*own);
    else
      ++own; // its value
  add(*given);
  return argv;
}

} // namespace mqbridge
