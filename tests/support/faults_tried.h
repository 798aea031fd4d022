#pragma once

#include <cstddef>
#include <cstdio>
#include <gtest/gtest.h>

namespace mqbridge::test {

/// So many faults were tried by the test that runs: tests/README.md. `./dev test` adds up these
/// lines over the whole run.
inline void faults_tried(std::size_t count) {
  std::printf("faults tried: %zu\n", count);
  testing::Test::RecordProperty("faults", static_cast<int>(count));
}

} // namespace mqbridge::test
