#pragma once

#include <gtest/gtest.h>
#include <iosfwd>
#include <string>
#include <tuple>
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

/// How executables are linked on every platform: -no-pie, -pie, -static.
std::vector<std::string> linkages();

/// For each platform and way of linking: placed.c is compiled, runs under qemu-user until it raises
/// its signal, and what a StoppedProcess learns is what the program says of itself: platform, load
/// bias, libraries. Before it runs a dynamic one is target.not_started. To be instantiated.
class QemuProcess : public testing::TestWithParam<std::tuple<QemuPlatform, std::string>> {};

std::string name_of(const testing::TestParamInfo<QemuProcess::ParamType>& of);

} // namespace mqbridge::test
