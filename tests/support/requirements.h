#pragma once

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

/// For what a test needs and a machine may lack: a cross compiler, a target of `./dev targets`.
/// `lacking` is empty, or says what lacks and the line that mends it: then the test ends here, as
/// skipped; as failed where MQBRIDGE_REQUIRE_TARGETS is set (./dev test), so that nothing is left
/// out unnoticed.
#define MQBRIDGE_SKIP_IF_LACKING(lacking)                                                          \
  do {                                                                                             \
    const std::string mqbridge_lacking = (lacking);                                                \
    if (!mqbridge_lacking.empty() && std::getenv("MQBRIDGE_REQUIRE_TARGETS") != nullptr)           \
      FAIL() << mqbridge_lacking;                                                                  \
    if (!mqbridge_lacking.empty())                                                                 \
      GTEST_SKIP() << mqbridge_lacking;                                                            \
  } while (false)
