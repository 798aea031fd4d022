#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace mqbridge::test {

/// What stands before a command to make it the first of processes that have a numbering of their
/// own, as on another computer or in a container. `more`: further options of unshare. Where the
/// command or unshare ends, the kernel ends all of them: nothing outlives a test that was killed.
std::vector<std::string> in_own_pid_namespace(const std::vector<std::string>& more = {});

/// The processes that share a numbering, seen from outside. All numbers are those of here, but
/// where it says otherwise.
class PidNamespace {
public:
  /// That of what in_own_pid_namespace() started with `unshare` as its own process. Throws
  /// std::runtime_error where nothing comes of it.
  explicit PidNamespace(pid_t unshare);

  /// Whose end is the end of all.
  pid_t first() const { return first_; }
  /// The process that has the number `inside` there; 0 if there is none.
  pid_t pid_here(pid_t inside) const;
  std::vector<pid_t> members() const;
  /// Those with this program name (cut to 15 letters, as the kernel does) that have not ended.
  std::vector<pid_t> named(std::string_view name) const;

private:
  pid_t first_ = 0;
  std::string id_; ///< as /proc names it
};

} // namespace mqbridge::test
