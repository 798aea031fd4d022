#include "host/launch/ssh_masters.h"

#include "host/disk/run_command.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace mqbridge {
namespace {

constexpr std::chrono::seconds asking{5}; ///< ssh -G and -O, which reach no other host
/// The path of a Unix socket has 107 characters: 17 that ssh appends while it makes it, 40 of %C,
/// 21 of our directory's name.
constexpr std::size_t longest_root = 28;

/// The value of a keyword in what `ssh -G` prints: "controlpath none".
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

/// Of this user's, and not on a network's file system.
std::filesystem::path private_root() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && std::string_view(runtime).size() <= longest_root &&
      ::access(runtime, W_OK | X_OK) == 0)
    return runtime;
  return "/tmp";
}

} // namespace

SshMasters::~SshMasters() {
  for (const auto& [host, options] : options_) {
    if (options.empty())
      continue;
    auto end = options;
    end.insert(end.end(), {"-O", "exit"});
    static_cast<void>(run_command(ssh(std::move(end), host), asking)); // none there: none to end
  }
  std::error_code ignored; // a master that does not end removes its socket itself
  if (!directory_.empty())
    std::filesystem::remove(directory_, ignored);
}

bool SshMasters::make_directory() {
  if (!directory_.empty())
    return true;
  std::string name = private_root() / "mqbridge-ssh-XXXXXX";
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

std::vector<std::string> SshMasters::options_for(const std::string& host) {
  const std::lock_guard lock(mutex_);
  if (const auto known = options_.find(host); known != options_.end())
    return known->second;
  auto& options = options_[host];
  const auto configuration = run_command(ssh({"-G"}, host), asking);
  if (!configuration || configuration->exit_status != 0 || has_master(configuration->text) ||
      !make_directory())
    return options;
  options = {"-o", "ControlMaster=auto",
             "-o", "ControlPersist=10",
             "-o", "ControlPath=" + (directory_ / "%C").string()};
  return options;
}

} // namespace mqbridge
