#pragma once

#include <filesystem>
#include <string>

namespace mqbridge {

/// The users whose changes to a debug DLL, and to the directories above it, are no danger.
enum class Writers {
  root,          ///< for what a target names
  root_and_user, ///< and the user that runs this: for what that user gave
};

/// Why somebody else could decide what is at `path`: who owns it or one of the directories above
/// it, or who may write there. Access lists count: the kernel shows the most that they grant in the
/// group's bits. Empty: nobody else could. `path` is canonical (no links): if every directory from
/// the root down belongs to root alone, nothing on the path can be exchanged between this check and
/// a later use.
std::string why_changeable(const std::filesystem::path& path, Writers writers);

/// The same for a place where ld.so searches a library. It may be absent: then nobody else may be
/// able to create it. Links are followed; one that leads nowhere counts as somebody else's.
std::string why_fillable(const std::filesystem::path& path, Writers writers);

} // namespace mqbridge
