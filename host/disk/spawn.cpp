#include "host/disk/spawn.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

namespace mqbridge {
namespace {

/// posix_spawn's two option objects, freed whatever happens.
struct SpawnOptions {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  explicit SpawnOptions(const StandardStreams& streams) {
    posix_spawn_file_actions_init(&actions);
    connect(streams.input, STDIN_FILENO, O_RDONLY);
    connect(streams.output, STDOUT_FILENO, O_WRONLY);
    connect(streams.error, STDERR_FILENO, O_WRONLY);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;

private:
  void connect(int ours, int theirs, int mode) {
    if (ours < 0)
      posix_spawn_file_actions_addopen(&actions, theirs, "/dev/null", mode, 0);
    else
      posix_spawn_file_actions_adddup2(&actions, ours, theirs);
  }
};

} // namespace

Result<pid_t> spawn(const std::vector<std::string>& argv, const StandardStreams& streams) {
  if (argv.empty())
    return fail("command.start", "there is no command");
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const auto& word : argv)
    words.push_back(const_cast<char*>(word.c_str())); // the interface is older than const
  words.push_back(nullptr);
  const SpawnOptions options(streams);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words.front(), &options.actions, &options.attributes,
                                   words.data(), environ);
  if (error != 0)
    return fail("command.start", fmt::format("cannot run {}: {}", argv[0], std::strerror(error)),
                fmt::format("install it, or check PATH: command -v {}", argv[0]));
  return pid;
}

} // namespace mqbridge
