#include "host/launch/ssh_masters.h"

#include "host/disk/command_output.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

constexpr std::chrono::seconds asking{5}; ///< ssh -G and -O, which reach no other host
/// The path of a Unix socket has 107 characters: 17 that ssh appends while it makes it, 40 of %C,
/// 21 of our directory's name.
constexpr std::size_t longest_root = 28;
constexpr std::string_view directory_name = "mqbridge-ssh-";
constexpr std::size_t ended_at_once = 16; ///< masters that are ended at the same time

/// The value of a keyword in the output of `ssh -G`: "none" of "controlpath none".
std::string_view setting(std::string_view configuration, std::string_view keyword) {
  while (!configuration.empty()) {
    auto line = configuration.substr(0, configuration.find('\n'));
    configuration.remove_prefix(std::min(configuration.size(), line.size() + 1));
    if (line.starts_with(keyword) && line.substr(keyword.size()).starts_with(' '))
      return line.substr(keyword.size() + 1);
  }
  return {};
}

bool has_master(std::string_view configuration) {
  const auto path = setting(configuration, "controlpath");
  const auto master = setting(configuration, "controlmaster");
  return !path.empty() && path != "none" && master != "false" && master != "no";
}

/// A directory of this user's that is not on a network's file system; else /tmp.
std::filesystem::path private_root() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && std::string_view(runtime).size() <= longest_root &&
      ::access(runtime, W_OK | X_OK) == 0)
    return runtime;
  return "/tmp";
}

/// Removes the directories of programs that were killed: their masters have ended, and removed
/// their sockets. A directory that still holds a socket is not empty, and stays.
void remove_left_behind(const std::filesystem::path& root) {
  std::error_code error;
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1);
  for (std::filesystem::directory_iterator entry(root, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with(directory_name) && entry->last_write_time(ignored) < long_ago && !ignored)
      ::rmdir(entry->path().c_str()); // fails for another user's directory
  }
}

} // namespace

SshMasters::~SshMasters() {
  std::mutex next;
  auto host = hosts_.begin();
  const auto end_some = [&] {
    while (true) {
      std::unique_lock lock(next);
      if (host == hosts_.end())
        return;
      const auto& [name, master] = *host++;
      lock.unlock();
      auto end = master->options;
      if (end.empty())
        continue;
      end.insert(end.end(), {"-O", "exit"});
      static_cast<void>(run_command(ssh(std::move(end), name), asking)); // fails if no master runs
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < std::min(hosts_.size(), ended_at_once); ++i)
        threads.emplace_back(end_some);
    } catch (const std::system_error&) {
      // No more threads can be started: the ones that run do all the work.
    }
    end_some();
  }
  std::error_code ignored; // a master that does not end removes its socket itself
  if (!directory_.empty())
    std::filesystem::remove(directory_, ignored);
}

bool SshMasters::make_directory() {
  const std::lock_guard lock(mutex_);
  if (!directory_.empty())
    return true;
  remove_left_behind(private_root());
  std::string name = private_root() / (std::string(directory_name) + "XXXXXX");
  if (::mkdtemp(name.data()) == nullptr)
    return false;
  directory_ = name;
  return true;
}

std::vector<std::string> SshMasters::ssh(std::vector<std::string> options,
                                         const std::string& host) const {
  std::vector<std::string> command{"ssh"};
  command.insert(command.end(), launcher_args_.begin(), launcher_args_.end());
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--", host});
  return command;
}

std::vector<std::string> SshMasters::ask_for(const std::string& host) {
  const auto configuration = run_command(ssh({"-G"}, host), asking);
  if (!configuration || configuration->exit_status != 0 || has_master(configuration->text) ||
      !make_directory())
    return {};
  return {"-o", "ControlMaster=auto",
          "-o", "ControlPersist=10",
          "-o", "ControlPath=" + (directory_ / "%C").string()};
}

std::vector<std::string> SshMasters::options_for(const std::string& host) {
  std::unique_lock lock(mutex_);
  auto& known = hosts_[host];
  if (!known)
    known = std::make_unique<Host>();
  auto& each = *known;
  lock.unlock();
  std::call_once(each.asked, [&] { each.options = ask_for(host); }); // other hosts do not wait
  return each.options;
}

} // namespace mqbridge
