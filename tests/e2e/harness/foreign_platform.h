#pragma once

#include "tests/support/child_process.h"

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>

namespace mqbridge::e2e {

/// A platform beside this machine's own that runs a real Open MPI here.
struct ForeignPlatform {
  std::string target;       ///< as `./dev targets` calls it
  std::string architecture; ///< this and the next two as a dump says them
  std::string byte_order;
  int pointer_size;
  std::string compiler;  ///< triplet of the cross compiler
  std::string multiarch; ///< Debian's directory for its libraries
  std::string emulator;  ///< of qemu-user; empty: this machine's kernel runs it
};

void PrintTo(const ForeignPlatform& platform, std::ostream* stream);

/// By the name of its target; it must be one of them.
const ForeignPlatform& foreign_platform(std::string_view target);

/// For MQBRIDGE_SKIP_IF_LACKING.
std::string lacking(const ForeignPlatform& platform);

/// Where `./dev targets` keeps the files of a target.
std::filesystem::path files_of(const ForeignPlatform& platform);

/// Compiles for the C library that is there: what is compiled for this machine's may need a later
/// one.
test::ChildSpec compiler_of(const ForeignPlatform& platform);

/// oracle_poster, or another MPI program of tests/inferiors, for `platform`, compiled against the
/// files of its target. Compiled again when its sources or the target are younger; by one test at a
/// time. Throws std::runtime_error with the compiler's words.
std::filesystem::path foreign_program(const ForeignPlatform& platform,
                                      const std::string& name = "oracle_poster");

/// The recorder for its Open MPI, compiled into `directory`. Throws as foreign_program().
std::filesystem::path foreign_recorder(const ForeignPlatform& platform,
                                       const std::filesystem::path& directory);

} // namespace mqbridge::e2e
