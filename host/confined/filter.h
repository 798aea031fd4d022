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
  /// And loads shared libraries, whose constructors run then: files are opened, for reading only,
  /// and code is mapped from them. What constructors of harmless libraries ask of the system is an
  /// error code for them, not a violation.
  loading,
  /// No file, nothing becomes executable. What printf() and malloc() of glibc try in vain anywhere
  /// (a terminal's ioctl, fstat) is an error code, too.
  computing,
  /// computing, and reads and maps, read-only, what is open already.
  reading_files,
  /// reading_files, and maps them so that what is written is its own. Who opens a file by its name
  /// is told that there is none: libdw looks for files beside those that it was given.
  looking_for_files,
};

/// One set of rules as the kernel takes it. Compiled beforehand, while nobody waits for it; in
/// force with one system call. None lets another filter be added: whoever has applied one has
/// applied the last. Needs libc and libseccomp only.
class Filter {
public:
  static Filter compile(Rules rules);

  /// From now on, for all threads of this process and for ever. Signals to itself are let through
  /// by its pid. Apply it before any foreign code runs: that could answer in the kernel's place
  /// with a filter of its own. Needs
  /// no_new_privs (confine()). nullopt: it is in force; else why not, for a person to read: the
  /// kernel has no seccomp, or somebody forbids it.
  std::optional<std::string> apply() const;

  /// The same, for a process that shares its memory (twin.h), whose other user may be allocating:
  /// takes none. False: apply() says why not.
  bool apply_quietly() const;

private:
  std::vector<sock_filter> program_;
  std::string defect_; ///< why there is no program
};

} // namespace mqbridge::sandbox
