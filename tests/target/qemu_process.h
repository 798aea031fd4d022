#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::test {

/// A platform of qemu-user, with the cross compiler and C library of Debian.
struct QemuPlatform {
  std::string architecture; ///< as `uname -m` says it there
  std::string triplet;      ///< of its compiler, and of its sysroot below /usr
  std::string emulator;
  std::string packages; ///< that bring compiler and C library
};

void PrintTo(const QemuPlatform& platform, std::ostream* out);

/// For MQBRIDGE_SKIP_IF_LACKING.
std::string lacking(const QemuPlatform& platform);

/// How executables are linked on every platform: -no-pie, -pie, -static.
std::vector<std::string> linkages();

/// Compiles placed.c for the platform, runs it under qemu-user until it raises its signal, and
/// expects that what a Target learns is what the program says of itself: platform, load bias,
/// libraries. And that before it runs a dynamic one is target.not_started.
void expect_placed(const QemuPlatform& platform, const std::string& linkage);

} // namespace mqbridge::test
