#include "host/mqs/dll_trust.h"

#include "rsp/packet/printable.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

bool is_harmless(uid_t user, Writers writers) {
  return user == 0 || (writers == Writers::root_and_user && user == ::geteuid());
}

/// Distributions give each user a group of the user's own, and a umask that lets it write.
bool lets_others_write(const struct stat& status, Writers writers) {
  const bool own_group = writers == Writers::root_and_user && status.st_gid == ::getegid();
  return (status.st_mode & S_IWOTH) != 0 || ((status.st_mode & S_IWGRP) != 0 && !own_group);
}

/// Whether only its owner may exchange `entry` in a directory that others can write (/tmp).
bool protects(const struct stat& directory, const struct stat* entry, Writers writers) {
  return writers == Writers::root_and_user && S_ISDIR(directory.st_mode) &&
         (directory.st_mode & S_ISVTX) != 0 && entry != nullptr &&
         is_harmless(entry->st_uid, writers);
}

/// On a file system that a user mounted, owner and mode are what that user's program says.
bool is_in_user_space(const fs::path& path) {
  struct statfs system {};
  return ::statfs(path.c_str(), &system) == 0 && system.f_type == FUSE_SUPER_MAGIC;
}

/// Looks at `part` alone. If it is a directory above something, `entry` is what was found in it.
std::string why_part_changeable(const fs::path& part, const struct stat& status,
                                const struct stat* entry, Writers writers) {
  const std::string shown = printable(part.string());
  if (S_ISLNK(status.st_mode))
    return shown + " has become a link meanwhile";
  if (!is_harmless(status.st_uid, writers))
    return fmt::format("{} belongs to user {}", shown, status.st_uid);
  if (lets_others_write(status, writers) && !protects(status, entry, writers))
    return fmt::format("{} can be written by others than {} (mode {:04o})", shown,
                       writers == Writers::root ? "root" : "root and you", status.st_mode & 07777U);
  if (writers == Writers::root && is_in_user_space(part))
    return fmt::format("{} lies on a FUSE file system: whose it is, its own program says", shown);
  return {};
}

} // namespace

std::string why_changeable(const fs::path& path, Writers writers) {
  struct stat below {};
  const struct stat* entry = nullptr;
  for (fs::path part = path;; part = part.parent_path()) {
    struct stat status {};
    if (::lstat(part.c_str(), &status) != 0)
      return printable(part.string()) + " cannot be looked at";
    std::string why = why_part_changeable(part, status, entry, writers);
    if (!why.empty() || part == part.parent_path())
      return why;
    below = status;
    entry = &below;
  }
}

std::string why_fillable(const fs::path& path, Writers writers) {
  for (fs::path part = path;; part = part.parent_path()) {
    std::error_code error;
    const fs::path real = fs::canonical(part, error);
    if (!error)
      return why_changeable(real, writers);
    if (fs::is_symlink(part, error))
      return printable(part.string()) + " is a link that leads nowhere";
    if (part == part.parent_path())
      return printable(path.string()) + " cannot be looked at";
  }
}

} // namespace mqbridge
