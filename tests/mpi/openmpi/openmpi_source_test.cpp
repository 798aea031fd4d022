// The real source of Open MPI, made by `./dev targets openmpi-source`.

#include "host/mpi/type_carrier.h"
#include "host/types/type_pack.h"
#include "tests/builders/elf_builder.h"
#include "tests/e2e/harness/foreign_truth.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/support/pack_part.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>

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
  EXPECT_EQ(e2e::text_of(request.output),
            e2e::text_of(MQBRIDGE_TEST_PACKS "/openmpi-4.1.4-amd64.types"));
}

struct Alone {
  const char* target;
  const char* compiler; ///< for which no headers of that version are installed here
  const char* pack;
};

class OpenMpiSourceAlone : public testing::TestWithParam<Alone> {};

// The shipped packs were made from the headers that Debian's own configure made.
TEST_P(OpenMpiSourceAlone, GivesTheLayoutsOfTheShippedPack) {
  const auto& [target, compiler, shipped_pack] = GetParam();
  const auto source = e2e::target_files(target);
  MQBRIDGE_SKIP_IF_LACKING(std::filesystem::exists(source / "ompi/include/mpi.h.in")
                               ? ""
                               : std::string("./dev targets ") + target);
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program(compiler, compiler));
  const test::TestDirectory directory;
  CarrierRequest request;
  request.compiler = {compiler};
  request.source = source;
  request.output = directory / "made.types";
  const auto made = make_type_carrier(request);
  ASSERT_TRUE(made) << made.error().message;
  auto pack = read_type_pack(request.output);
  auto shipped = read_type_pack(std::filesystem::path(MQBRIDGE_TEST_PACKS) / shipped_pack);
  ASSERT_TRUE(pack && shipped);
  EXPECT_EQ(pack->build_id, "");
  shipped->build_id.clear();
  shipped->library.clear();
  // Debian builds other components for 32 bits: ompi_proc_t ends elsewhere, and nobody reads that.
  for (auto* types : {&pack->types, &shipped->types})
    for (auto& type : *types)
      if (type.name == "ompi_proc_t")
        type = {type.name, 0, {*type.find_field("super")}};
  const test::PackPart part(*shipped, *pack);
  EXPECT_EQ(write_type_pack(*pack), write_type_pack(part.pack));
  EXPECT_THAT(part.more, testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Releases, OpenMpiSourceAlone,
    testing::Values(Alone{"openmpi-source", "aarch64-linux-gnu-gcc", "openmpi-4.1.4-arm64.types"},
                    Alone{"openmpi-source", "arm-linux-gnueabihf-gcc", "openmpi-4.1.4-armhf.types"},
                    Alone{"openmpi-source-5", "x86_64-linux-gnu-gcc", "openmpi-5.0.7-amd64.types"}),
    [](const auto& one) {
      return std::string(one.param.pack + 8, 1) + "On" +
             std::string(one.param.compiler).substr(0, 3);
    });

} // namespace
} // namespace mqbridge
