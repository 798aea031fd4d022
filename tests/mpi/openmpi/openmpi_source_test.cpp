// The real source of Open MPI, made by `./dev targets openmpi-source`.

#include "host/mpi/type_carrier.h"
#include "tests/builders/elf_builder.h"
#include "tests/e2e/harness/foreign_truth.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/support/requirements.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(OpenMpiSource, GivesTheShippedPack) {
  const auto source = e2e::target_files("openmpi-source");
  MQBRIDGE_SKIP_IF_LACKING(
      std::filesystem::exists(source / "VERSION") ? "" : "./dev targets openmpi-source");
  const test::TestDirectory directory;
  CarrierRequest request;
  request.compiler = {MQBRIDGE_TEST_CC};
  request.source = source;
  request.output = directory / "made.types";
  const auto made = make_type_carrier(request);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(e2e::text_of(request.output), e2e::text_of(MQBRIDGE_TEST_PACK));
}

} // namespace
} // namespace mqbridge
