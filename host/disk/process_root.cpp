#include "host/disk/process_root.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

using Roots = std::vector<std::weak_ptr<const ProcessRoot>>;

/// Tells a mount namespace and a root directory in it from all others; empty: one is not known.
std::string identity_of(const struct stat* name_space, const struct stat* root) {
  if (name_space == nullptr || root == nullptr)
    return {};
  return fmt::format("namespace {} root {} {}", name_space->st_ino, root->st_dev, root->st_ino);
}

std::string own_identity() {
  struct stat name_space {};
  struct stat root {};
  return identity_of(::stat("/proc/self/ns/mnt", &name_space) == 0 ? &name_space : nullptr,
                     ::stat("/", &root) == 0 ? &root : nullptr);
}

std::string identity_of(const FileDescriptor& name_space, const FileDescriptor& root) {
  struct stat of_space {};
  struct stat of_root {};
  return identity_of(name_space && ::fstat(name_space.get(), &of_space) == 0 ? &of_space : nullptr,
                     root && ::fstat(root.get(), &of_root) == 0 ? &of_root : nullptr);
}

} // namespace

Result<std::shared_ptr<const ProcessRoot>> ProcessRoot::of(std::int64_t pid) {
  static std::mutex mutex; // guards `roots`
  static Roots roots;
  auto name = fmt::format("/proc/{}/root", pid);
  FileDescriptor name_space(
      ::open(fmt::format("/proc/{}/ns/mnt", pid).c_str(), O_RDONLY | O_CLOEXEC));
  FileDescriptor root(::open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto identity = identity_of(name_space, root);
  if (identity.empty() || identity == own_identity())
    return nullptr;
  const std::lock_guard lock(mutex);
  std::erase_if(roots, [](const auto& known) { return known.expired(); });
  for (const auto& known : roots)
    if (auto same = known.lock(); same && same->identity() == identity)
      return same;
  std::shared_ptr<const ProcessRoot> made(new ProcessRoot(std::move(name), std::move(identity),
                                                          std::move(root), std::move(name_space)));
  if (!made->locate(made->name()))
    return fail("image.root",
                fmt::format("process {} sees other files than mqbridge does, and they are not "
                            "looked at: openat2, which follows names safely beneath {}, fails: {}",
                            pid, made->name().string(), std::strerror(errno)),
                "it takes Linux 5.6, and no filter of system calls that forbids it; or give a "
                "directory tree with the process's own files: --sysroot DIR");
  roots.push_back(made);
  return made;
}

FileDescriptor ProcessRoot::locate(const std::filesystem::path& path) const {
  constexpr int most_tries = 16; // the kernel asks for another one if a directory moves meanwhile
  const std::string_view named = path.native();
  if (!named.starts_with(name_.native())) {
    errno = ENOENT;
    return FileDescriptor();
  }
  const std::string inside = "/" + std::string(named.substr(name_.native().size()));
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  FileDescriptor found;
  for (int tries = 0; !found && tries < most_tries; ++tries) {
    found = FileDescriptor(
        static_cast<int>(::syscall(SYS_openat2, root_.get(), inside.c_str(), &how, sizeof how)));
    if (!found && errno != EAGAIN && errno != EINTR)
      break;
  }
  return found;
}

} // namespace mqbridge
