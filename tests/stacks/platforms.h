#pragma once

#include "tests/stacks/core_subject.h"
#include "tests/support/requirements.h"

#include <gtest/gtest.h>
#include <iosfwd>
#include <string>

namespace mqbridge::test {

/// A platform of qemu-user, with the cross compiler and C library of Debian.
struct StackPlatform {
  std::string name;
  std::string triplet;
  std::string emulator;
};

void PrintTo(const StackPlatform& platform, std::ostream* out);

/// What of it is not installed.
std::string lacking(const StackPlatform& platform);

/// chain.c, compiled for it, that ended with a core. `linkage`: -static or -no-pie.
CoreSubject subject_of(const StackPlatform& platform, const std::string& linkage);

/// Of static and of dynamic programs: cores that QEMU writes, and processes under its stub. To be
/// instantiated.
class StacksOf : public testing::TestWithParam<StackPlatform> {};
/// Of static programs under QEMU's stub alone: it does not write cores of every platform.
class LiveStacksOf : public testing::TestWithParam<StackPlatform> {};

std::string name_of(const testing::TestParamInfo<StackPlatform>& of);

} // namespace mqbridge::test
