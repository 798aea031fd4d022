#pragma once

#include <cstdint>
#include <linux/filter.h>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::sandbox {

/// What the system call filters let through. Everything computes on memory of its own, and reads
/// and writes descriptors that are open already; no set of rules has sockets, exec, fork, signals
/// to others, ptrace, or anything that writes to a file by its name. Threads cannot be started
/// (pthread_create() fails with EPERM): a DLL calls back from the thread that called it, or not.
enum class Rules : std::uint8_t {
  /// And loads shared libraries, whose constructors run then: files are opened, for reading only;
  /// no memory is writable and executable at once.
  loading,
  /// No file, nothing becomes executable. What printf() and malloc() of glibc try in vain anywhere
  /// (a terminal's ioctl, fstat) is an error code for them, not a violation.
  computing,
  /// computing, and reads and maps, read-only, what is open already.
  reading_files,
};

/// One set of rules as the kernel takes it. Compiled beforehand, while nobody waits for it; in
/// force with one system call. Needs libc and libseccomp only.
class Filter {
public:
  /// For this very process: signals to itself are let through by its pid.
  static Filter compile(Rules rules);

  /// From now on, for all threads and for ever; filters that are in force already stay. Needs
  /// no_new_privs (confine()). nullopt: it is in force; else why not, for a person to read: the
  /// kernel has no seccomp, or somebody forbids it.
  std::optional<std::string> apply() const;

private:
  std::vector<sock_filter> program_;
  std::string defect_; ///< why there is no program
};

} // namespace mqbridge::sandbox
