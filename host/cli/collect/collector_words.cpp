#include "host/cli/collect/collector_words.h"

#include "host/mqs/dll_policy.h"

#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <variant>

namespace mqbridge {
namespace {

class WordList {
public:
  explicit WordList(std::vector<std::string> words = {}) : words_(std::move(words)) {}

  void add(std::string_view option, const std::string& value) {
    if (value.empty())
      return;
    words_.emplace_back(option);
    words_.push_back(value);
  }
  void add(std::string_view option, const std::vector<std::string>& values) {
    for (const auto& value : values)
      add(option, value);
  }
  /// A collector may begin in another directory.
  void add_path(std::string_view option, const std::string& path) {
    add(option, path.empty() ? path : std::filesystem::absolute(path).string());
  }
  void add_paths(std::string_view option, const std::vector<std::string>& paths) {
    for (const auto& path : paths)
      add_path(option, path);
  }
  void add(std::string_view option, const char* value) = delete; // it would be a flag
  void add(std::string_view flag, bool on) {
    if (on)
      words_.emplace_back(flag);
  }
  std::vector<std::string> take() { return std::move(words_); }

private:
  std::vector<std::string> words_;
};

} // namespace

std::vector<std::string> look_words(const RawOptions& raw) {
  WordList words;
  words.add("--gdbserver", raw.gdbserver);
  words.add("--node-command", raw.node_command);
  words.add("--jobs", raw.jobs);
  if (raw.dll == DllPolicy::none)
    words.add("--dll", raw.dll);
  else
    words.add_path("--dll", raw.dll);
  words.add_paths("--sysroot", raw.sysroots);
  words.add_paths("--debug-dir", raw.debug_dirs);
  words.add_paths("--types", raw.types);
  words.add("--path-map", raw.path_maps);
  words.add_paths("--image", raw.images);
  words.add_path("--config", raw.config);
  words.add("--no-sandbox", raw.no_sandbox);
  words.add("--connect-timeout", raw.connect_timeout);
  words.add("--timeout", raw.timeout);
  return words.take();
}

Result<std::vector<std::string>> collector_words(const RawOptions& raw) {
  for (const auto& [option, value] :
       {std::pair("--trace", &raw.trace), std::pair("--run-until", &raw.run_until)})
    if (!value->empty())
      return fail("usage", fmt::format("{} is of one computer, and --collect of many", option),
                  fmt::format("leave one of them out: mqbridge dump {} ... on one node", option));
  if (raw.consistent)
    return fail("usage", "--consistent stops all ranks from one computer: --collect cannot",
                "leave one of them out");
  WordList words(look_words(raw));
  words.add("--format", std::string("collect"));
  const bool fetch = raw.fetch_files == FetchMode::always; // nobody can be asked there
  words.add("--fetch-files", std::string(fetch ? "always" : "never"));
  words.add("--no-stacks", raw.no_stacks);
  words.add("--no-python", raw.no_python);
  words.add("--max-stop", raw.max_stop);
  words.add("--max-operations", raw.max_operations);
  words.add("--max-bytes", raw.max_bytes);
  words.add("--max-walk", raw.max_walk);
  for (const auto& [name, values] : raw.filters)
    words.add("--" + name, values);
  words.add("--kind", raw.kind);
  words.add("--verbosity", raw.verbosity);
  words.add("--category", raw.categories);
  words.add("--pattern", raw.patterns);
  words.add("--source", raw.sources);
  words.add("--unexpected", raw.unexpected); // a filter, too
  words.add("--request", raw.requests);
  words.add("--communicator", raw.communicator_handles);
  words.add("--errhandler", raw.errhandlers);
  words.add("--status", raw.statuses);
  words.add("--fortran", raw.fortran);
  words.add("--cache", std::string(word_of(cache_modes, raw.cache)));
  words.add("--raw", raw.raw);
  return words.take();
}

Result<void> check_collectable(std::span<const TargetSpec> targets) {
  for (const auto& target : targets) {
    TargetKeys only_job;
    only_job.job = target.keys.job;
    if (!std::holds_alternative<NodeProcess>(target.where) || target.keys != only_job)
      return fail("usage",
                  fmt::format("--collect: {} is no process of a node, or has keys of its own in "
                              "the targets file",
                              target.text()),
                  "leave --collect out, or name processes as ssh:HOST:PID and srun:JOB:NODE:PID");
  }
  return {};
}

} // namespace mqbridge
