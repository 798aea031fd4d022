#pragma once

#include <cstdint>
#include <linux/filter.h>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::sandbox {

/// A set of allowed system calls. Each set allows a process to compute in its own memory, and to
/// read and write descriptors that are open already. No set allows sockets, exec, fork, signals to
/// others, ptrace, or anything that writes to a file by its name. No thread can be started
/// (pthread_create() fails with EPERM): a DLL can only call back on the thread that called it.
enum class Rules : std::uint8_t {
  /// Also allows to load shared libraries, whose constructors run then: files are opened, for
  /// reading only, and code is mapped from them. Calls that constructors of harmless libraries try
  /// return an error code, and are no violation.
  loading,
  /// No files, and no memory becomes executable. Calls that glibc's printf() and malloc() may try
  /// anywhere (a terminal's ioctl, fstat) return an error code, too.
  computing,
  /// computing, and may read open descriptors and map them read-only.
  reading_files,
  /// reading_files, and may map them privately writable. Opening a file by its name fails as if
  /// there were none: libdw looks for files beside those that it gets.
  looking_for_files,
};

/// One set of rules in the kernel's form. It is compiled beforehand, while nobody waits for it, and
/// put in force with one system call. No set allows a further filter: a process that has applied
/// one cannot apply another. Needs libc and libseccomp only.
class Filter {
public:
  static Filter compile(Rules rules);

  /// Puts the filter in force, for all threads of this process and for ever. Signals to the process
  /// itself, by its pid, are allowed. Apply it before any foreign code runs: such code could answer
  /// in the kernel's place with a filter of its own. Needs no_new_privs (confine()). nullopt: it is
  /// in force; else why not, as a text for people: the kernel has no seccomp, or somebody forbids
  /// it.
  std::optional<std::string> apply() const;

  /// The same, without allocating memory: for a process that shares its memory with another one
  /// (twin.h), which may be allocating at that moment. False: it failed; apply() would say why.
  bool apply_quietly() const;

private:
  std::vector<sock_filter> program_;
  std::string defect_; ///< why there is no program
};

} // namespace mqbridge::sandbox
