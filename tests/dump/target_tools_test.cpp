#include "host/dump/target/target_tools.h"
#include "host/dump/workshop.h"
#include "tests/builders/private_cache.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

namespace mqbridge {
namespace {

using testing::ElementsAre;

class TargetToolsTest : public testing::Test {
protected:
  TargetToolsTest() {
    DumpOptions options;
    options.program_directory = MQBRIDGE_PROGRAM_DIRECTORY;
    options.paths = {{"/common"}, {"/debug"}, {}};
    options.types_files = {"/common.types"};
    options.dll.given = "/common.so";
    workshop_ = std::move(Workshop::open(options)).value();
  }

  static TargetSpec target(TargetKeys keys) {
    auto target = TargetSpec::parse("node7:7001").value();
    target.keys = std::move(keys);
    return target;
  }
  SharedTools shared() { return workshop_->tools(budget_); }

private:
  test::PrivateCache cache_;
  std::unique_ptr<Workshop> workshop_;
  RunBudget budget_{1 << 20, 1};
};

TEST_F(TargetToolsTest, WithoutFilesOfItsOwnAreThoseOfAll) {
  const auto all = shared();
  const auto one = target({.job = "a", .node_command = "nsenter"});
  const TargetTools tools(one, all);
  EXPECT_EQ(&tools.get().options, &all.options);
  EXPECT_EQ(&tools.get().files, &all.files);
  EXPECT_EQ(tools.get().known_files, all.known_files);
}

TEST_F(TargetToolsTest, ItsOwnFilesComeBeforeThoseOfAll) {
  const auto all = shared();
  const auto one = target({.sysroots = {"/own"}, .types = {"/own.types"}, .dll = "/own.so"});
  const TargetTools tools(one, all);
  EXPECT_THAT(tools.get().files.paths().sysroots, ElementsAre("/own", "/common"));
  EXPECT_THAT(tools.get().files.paths().debug_dirs, ElementsAre("/debug"));
  EXPECT_THAT(tools.get().options.types_files, ElementsAre("/own.types", "/common.types"));
  EXPECT_EQ(tools.get().options.dll.given, "/own.so");
  EXPECT_EQ(all.options.dll.given, "/common.so");
  EXPECT_THAT(all.files.paths().sysroots, ElementsAre("/common"));
}

TEST_F(TargetToolsTest, TargetsWithTheSameSysrootsShareTheirFiles) {
  const auto all = shared();
  const TargetTools one(target({.sysroots = {"/a", "/b"}}), all);
  const TargetTools same(target({.sysroots = {"/a", "/b"}, .dll = "/x.so"}), all);
  const TargetTools other(target({.sysroots = {"/b", "/a"}}), all);
  EXPECT_EQ(&one.get().files, &same.get().files);
  EXPECT_NE(&one.get().files, &other.get().files);
}

TEST(SysrootCaches, AreBoundedAndStayWithWhoUsesThem) {
  SysrootCaches caches({}, {});
  const auto used = caches.of({"/used"});
  const std::weak_ptr unused = caches.of({"/unused"});
  EXPECT_EQ(caches.of({"/used"}), used);
  EXPECT_FALSE(unused.expired());
  for (std::size_t i = 0; i < SysrootCaches::most_caches; ++i)
    static_cast<void>(caches.of({fmt::format("/{}", i)}));
  EXPECT_TRUE(unused.expired());
  EXPECT_THAT(used->paths().sysroots, ElementsAre("/used"));
  EXPECT_NE(caches.of({"/used"}), used) << "forgotten, and made anew";
}

} // namespace
} // namespace mqbridge
