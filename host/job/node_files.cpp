#include "host/job/node_files.h"

#include "host/disk/file_descriptor.h"
#include "rsp/commands/processes.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <pwd.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

std::optional<std::int64_t> process_id(std::string_view name) {
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool all = error == std::errc{} && end == name.data() + name.size();
  return all && pid > 0 ? std::optional(pid) : std::nullopt;
}

/// Names of users. Each is looked up once: a look-up may take a round trip to a directory server.
class UserNames {
public:
  const std::string& of(uid_t user) {
    const auto [place, is_new] = known_.try_emplace(user);
    if (is_new)
      place->second = look_up(user);
    return place->second;
  }

private:
  static std::string look_up(uid_t user) {
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 4096> text{};
    if (::getpwuid_r(user, &entry, text.data(), text.size(), &found) == 0 && found != nullptr)
      return found->pw_name;
    return fmt::to_string(user);
  }

  std::map<uid_t, std::string> known_;
};

rsp::FileText::State state_of(int error) {
  if (error == ENOENT || error == ESRCH)
    return rsp::FileText::State::missing;
  const bool denied = error == EACCES || error == EPERM;
  return denied ? rsp::FileText::State::denied : rsp::FileText::State::failed;
}

rsp::FileText read_start(const rsp::FileStart& wanted) {
  rsp::FileText result;
  const FileDescriptor file(::open(wanted.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    result.state = state_of(errno);
    return result;
  }
  std::array<char, std::size_t{16} << 10> buffer;
  while (result.text.size() < wanted.count) {
    const auto size = std::min(buffer.size(), wanted.count - result.text.size());
    const auto count = ::read(file.get(), buffer.data(), size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      result.state = state_of(errno);
      return result;
    }
    result.text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0) {
      result.whole = true;
      break;
    }
  }
  result.state = rsp::FileText::State::read;
  return result;
}

/// Removes the packets that a message may end with: they can be pieces of an environment.
Error without_packets(Error error) {
  constexpr std::string_view packets = " (last packets: ";
  if (const auto at = error.message.find(packets); at != std::string::npos)
    error.message.resize(at);
  return error;
}

} // namespace

Result<std::vector<ListedProcess>> LocalFiles::processes() {
  std::vector<ListedProcess> processes;
  UserNames users;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto pid = process_id(entry->path().filename().string());
    struct stat status {};
    if (pid && ::stat(entry->path().c_str(), &status) == 0)
      processes.push_back({*pid, users.of(status.st_uid)});
  }
  if (error)
    return fail("node.no_processes",
                fmt::format("the processes of this host cannot be listed: {}", error.message()),
                "mount -t proc proc /proc");
  return processes;
}

Result<void> LocalFiles::read(std::span<const rsp::FileStart> files, const rsp::TakeText& take) {
  for (std::size_t i = 0; i < files.size(); ++i)
    take(i, read_start(files[i]));
  return {};
}

Result<std::vector<ListedProcess>> StubFiles::processes() {
  auto listed = rsp::read_processes(client_);
  if (!listed)
    return Failure(without_packets(std::move(listed).error()));
  if (listed->empty())
    return fail("node.no_processes",
                fmt::format("the stub at {} does not list the processes of its node",
                            client_.endpoint().text),
                "use gdbserver 7.6 or later, or name the processes yourself");
  std::vector<ListedProcess> processes;
  for (auto& process : *listed)
    processes.push_back({process.pid, std::move(process.user)});
  return processes;
}

Result<void> StubFiles::read(std::span<const rsp::FileStart> files, const rsp::TakeText& take) {
  auto done = rsp::read_file_starts(client_, files, take);
  if (!done)
    return Failure(without_packets(std::move(done).error()));
  return done;
}

} // namespace mqbridge
