#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// One login for each host, however many programs are started there: ssh's ControlMaster, with its
/// socket in a private directory of this object's. If the user's configuration has a master for a
/// host, that one is used. The masters end with this object. If the program is killed, they end ten
/// seconds after the last of their sessions, and the next program removes the directory.
/// Thread-safe.
class SshMasters {
public:
  /// `launcher_args`: the user's own options of ssh, which tell the host's configuration, too.
  explicit SshMasters(std::vector<std::string> launcher_args)
      : launcher_args_(std::move(launcher_args)) {}
  ~SshMasters();
  SshMasters(const SshMasters&) = delete;
  SshMasters& operator=(const SshMasters&) = delete;

  /// Options of ssh for `host` ([USER@]HOST, checked): those of the master, or none. Asks `ssh -G`
  /// the first time. If no directory can be made there is no master.
  std::vector<std::string> options_for(const std::string& host);

private:
  bool make_directory();
  std::vector<std::string> ask_for(const std::string& host);
  std::vector<std::string> ssh(std::vector<std::string> options, const std::string& host) const;

  const std::vector<std::string> launcher_args_;
  struct Host {
    std::once_flag asked = {};
    std::vector<std::string> options = {}; ///< of ssh; empty: no master of ours
  };

  std::mutex mutex_;
  std::filesystem::path directory_;                    ///< empty: not made yet
  std::map<std::string, std::unique_ptr<Host>> hosts_; ///< by name
};

} // namespace mqbridge
