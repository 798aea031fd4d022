#include "host/files/sysroot.h"

#include <deque>
#include <system_error>

namespace mqbridge {
namespace {

constexpr int symlink_limit = 40; // the same as Linux's own

// Puts the components of `path` before those still to be walked.
void push_front(std::deque<std::filesystem::path>& pending, const std::filesystem::path& path) {
  const auto relative = path.relative_path();
  pending.insert(pending.begin(), relative.begin(), relative.end());
}

} // namespace

std::optional<std::filesystem::path> resolve_in_sysroot(const std::filesystem::path& sysroot,
                                                        const std::filesystem::path& path) {
  std::deque<std::filesystem::path> pending;
  push_front(pending, path);
  std::filesystem::path inside; // relative to the sysroot, free of symlinks
  int symlinks = 0;
  while (!pending.empty()) {
    const auto component = pending.front();
    pending.pop_front();
    if (component.empty() || component == ".")
      continue;
    if (component == "..") {
      inside = inside.parent_path();
      continue;
    }
    std::error_code error;
    const auto here = sysroot / inside / component;
    const auto status = std::filesystem::symlink_status(here, error);
    if (status.type() == std::filesystem::file_type::symlink) {
      const auto link = std::filesystem::read_symlink(here, error);
      if (error || ++symlinks > symlink_limit)
        return std::nullopt;
      if (link.is_absolute())
        inside.clear();
      push_front(pending, link);
      continue;
    }
    if (!std::filesystem::exists(status))
      return std::nullopt;
    inside /= component;
  }
  return sysroot / inside;
}

} // namespace mqbridge
