#include "host/disk/spawn.h"

#include "host/codes.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

namespace mqbridge {
namespace {

/// posix_spawn's two option objects, which are freed whatever happens.
struct SpawnOptions {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnOptions() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;

  void connect(int ours, int theirs) { posix_spawn_file_actions_adddup2(&actions, ours, theirs); }
  void connect_or_discard(int ours, int theirs, int mode) {
    if (ours >= 0)
      connect(ours, theirs);
    else
      posix_spawn_file_actions_addopen(&actions, theirs, "/dev/null", mode, 0);
  }
  void use_mask(const sigset_t& mask, short other_flags) {
    posix_spawnattr_setsigmask(&attributes, &mask);
    posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | other_flags));
  }
};

/// The texts in the form that the older interfaces without const want. Valid as long as `texts`.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const auto& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Our own environment, with `variables` set in it.
std::vector<std::string> environment_with(std::span<const EnvironmentVariable> variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    if (std::ranges::find(variables, name, &EnvironmentVariable::first) == variables.end())
      environment.emplace_back(text);
  }
  for (const auto& [name, value] : variables)
    environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

/// `missing`: the code for a program that does not exist.
Result<pid_t> start(const std::vector<std::string>& argv, const SpawnOptions& options,
                    std::string_view missing, std::span<const EnvironmentVariable> variables = {}) {
  if (argv.empty())
    return fail(codes::command_start, "there is no command");
  const auto environment = environment_with(variables);
  pid_t pid = 0;
  const auto run = [&](const std::vector<std::string>& words) {
    return ::posix_spawnp(&pid, words.front().c_str(), &options.actions, &options.attributes,
                          pointers_to(words).data(), pointers_to(environment).data());
  };
  int error = run(argv);
  if (error == ENOEXEC) { // a script without `#!`: a shell runs it, as execvp() would
    std::vector<std::string> words = {"/bin/sh", "-c", "exec \"$0\" \"$@\""};
    words.insert(words.end(), argv.begin(), argv.end());
    error = run(words);
  }
  if (error != 0)
    return fail(error == ENOENT ? missing : codes::command_start,
                fmt::format("cannot run {}: {}", argv[0], std::strerror(error)),
                fmt::format("install it, or check PATH: command -v {}", pasteable(argv[0])));
  return pid;
}

} // namespace

Result<pid_t> spawn(const std::vector<std::string>& argv, const StandardStreams& streams) {
  SpawnOptions options;
  options.connect_or_discard(streams.input, STDIN_FILENO, O_RDONLY);
  options.connect_or_discard(streams.output, STDOUT_FILENO, O_WRONLY);
  options.connect_or_discard(streams.error, STDERR_FILENO, O_WRONLY);
  posix_spawn_file_actions_addclosefrom_np(&options.actions, STDERR_FILENO + 1);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigdefault(&options.attributes, &all);
  posix_spawnattr_setpgroup(&options.attributes, 0);
  options.use_mask(none, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  return start(argv, options, codes::command_start);
}

Result<pid_t> spawn_in_place(const std::vector<std::string>& argv, const StandardStreams& streams,
                             const sigset_t& mask, std::span<const EnvironmentVariable> variables) {
  SpawnOptions options;
  if (streams.input >= 0)
    options.connect(streams.input, STDIN_FILENO);
  if (streams.output >= 0)
    options.connect(streams.output, STDOUT_FILENO);
  if (streams.error >= 0)
    options.connect(streams.error, STDERR_FILENO);
  options.use_mask(mask, 0);
  return start(argv, options, codes::command_not_found, variables);
}

} // namespace mqbridge
