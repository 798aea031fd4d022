#include "host/process/core/core_path.h"
#include "tests/builders/elf_builder.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(CorePath, LastAtEndsTheCoreWhereNoFileDecides) {
  const auto both = parse_core_path("no/core@1@exe");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->core, "no/core@1");
  EXPECT_EQ(both->executable, "exe");
  const auto alone = parse_core_path("no/core.1");
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->core, "no/core.1");
  EXPECT_FALSE(alone->executable);
}

TEST(CorePath, LongestExistingFileIsTheCore) {
  const test::TestDirectory directory;
  const auto core = directory.write("core@node", "").string();
  const auto alone = parse_core_path(core);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->core, core);
  EXPECT_FALSE(alone->executable);
  const auto both = parse_core_path(core + "@/opt/app@2/run");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->core, core);
  EXPECT_EQ(both->executable, "/opt/app@2/run");
}

TEST(CorePath, EmptyNamesAreRefused) {
  for (const auto* text : {"", "@", "@exe", "no/core@"}) {
    const auto path = parse_core_path(text);
    ASSERT_FALSE(path) << text;
    EXPECT_EQ(path.error().code, "target.syntax");
  }
}

} // namespace
} // namespace mqbridge
