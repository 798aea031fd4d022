#pragma once

#include <filesystem>
#include <string>

namespace mqbridge {

/// Whose changes to a debug DLL, and to the directories on its way, are no danger.
enum class Writers {
  root,          ///< for what a target names
  root_and_user, ///< and the user that runs this: for what that user gave
};

/// Why somebody else could decide what is at `path`: who owns it or one of the directories above
/// it, or who may write there. Access lists count: the kernel shows the most that they grant in the
/// group's bits. Empty: nobody else could. `path` is canonical (no links): where every directory
/// from the root down belongs to root alone, nothing on it can be exchanged between this look and a
/// later one.
std::string why_changeable(const std::filesystem::path& path, Writers writers);

/// The same for a place where a library is looked for, which may be absent: then nobody else may be
/// able to make it. Links are followed; one that leads nowhere counts as somebody else's.
std::string why_fillable(const std::filesystem::path& path, Writers writers);

} // namespace mqbridge
