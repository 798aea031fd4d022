// Core files: MPICH's, and a thousand that are damaged.

#include "tests/e2e/harness/dead_process.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/support/core_files.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

TEST(GcoreFullTest, OfMpichGivesTheDocumentOfTheLiveProcess) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gcore", "gdb"));
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  expect_gcore_as_live(
      [](const auto& directory) { return mpich_singleton("oracle_poster", directory, {"mix"}); },
      Mpi::lists_some, mpich_options());
}

TEST(KernelCoreFullTest, AThousandDamagesAreErrorsOrAnswers) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_kernel_cores());
  const DeadProcess dead("mix");
  expect_damage_survived(dead, 1000);
}

} // namespace
} // namespace mqbridge::e2e
