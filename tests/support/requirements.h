#pragma once

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

/// For what a test needs and a machine may lack: a cross compiler, a target of `./dev targets`.
/// `lacking` is empty, or says what lacks and the line that mends it: then the test ends here, as
/// skipped; as failed where MQBRIDGE_REQUIRE_TARGETS is set (./dev test), so that nothing is left
/// out unnoticed. What no line mends (`no_ia32`) is skipped in any case.
#define MQBRIDGE_SKIP_IF_LACKING(lacking)                                                          \
  do {                                                                                             \
    const std::string mqbridge_lacking = (lacking);                                                \
    if (!mqbridge_lacking.empty() && mqbridge_lacking != ::mqbridge::test::no_ia32 &&              \
        std::getenv("MQBRIDGE_REQUIRE_TARGETS") != nullptr)                                        \
      FAIL() << mqbridge_lacking;                                                                  \
    if (!mqbridge_lacking.empty())                                                                 \
      GTEST_SKIP() << mqbridge_lacking;                                                            \
  } while (false)

namespace mqbridge::test {

/// Kernels and hypervisors of x86-64 may do without the 32-bit x86 of old.
inline constexpr const char* no_ia32 = "this machine's kernel runs no 32-bit x86 programs";

/// `no_ia32`, or empty. Runs such a program when it is asked for the first time.
std::string lacking_ia32();

} // namespace mqbridge::test
