#include "tests/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string pack = "mqbridge-types 1\n"
                         "mpi openmpi\n"
                         "version 4.1.4\n"
                         "platform x86_64 little 8\n"
                         "type opal_list_t 96\n"
                         "field opal_list_length 64 8\n";

TEST(TypesShow, PrintsAPack) {
  const TemporaryFolder folder;
  const std::string file = (folder / "small.types").string();
  write_file(file, pack);
  const Ran ran = run("mqbridge types show '" + file + "'");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("openmpi 4.1.4"));
  EXPECT_THAT(ran.out, HasSubstr("opal_list_t    96\n"));
  EXPECT_THAT(ran.out, HasSubstr("                8      64  opal_list_length\n"));
}

TEST(TypesShow, SaysWhatIsWrongWithAFile) {
  const TemporaryFolder folder;
  const std::string file = (folder / "bad.types").string();
  write_file(file, pack + "type\n");
  const Ran ran = run("mqbridge types show '" + file + "'");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("pack.syntax"));
  EXPECT_THAT(ran.err, HasSubstr("bad.types:7"));
  EXPECT_THAT(run("mqbridge types show /nowhere").err, HasSubstr("/nowhere"));
}

TEST(Types, MakeShowCheckAgree) {
  const TemporaryFolder folder;
  const std::string file = (folder / "ompi.types.so").string();
  const Ran made = run("mqbridge types make --mpi openmpi -o '" + file + "'");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, StartsWith("made type carrier " + file + "; "));
  EXPECT_THAT(made.out, HasSubstr(" types\nto use it: mqbridge dump --types " + file + " TARGET"));
  const Ran shown = run("mqbridge types show '" + file + "'");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("\nompi_request_t"));
  EXPECT_THAT(shown.out, HasSubstr("req_complete\n"));
  const Ran checked = run("mqbridge types check '" + file + "'");
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("all agree; the types of ob1 are not there\n"));
}

/// Links that others have put where the file is to be written first, by any number of a process.
TEST(Types, MakeFollowsNoLinkThatWasPutInItsWay) {
  const TemporaryFolder folder;
  const auto file = folder / "ompi.types.so";
  const auto precious = folder / "precious";
  write_file(precious, "precious");
  const Ran made =
      run("cd '" + folder.path().string() +
          "'; ln -s precious ompi.types.so.$$.part; exec \"$program\" types make --mpi "
          "openmpi -o '" +
          file.string() + "'");
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(read_file(precious), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(file));
}

TEST(TypesCheck, TellsWhatDiffersAndExitsWithOne) {
  const TemporaryFolder folder;
  const std::string file = (folder / "old.types").string();
  write_file(file, pack);
  const Ran ran = run("mqbridge types check '" + file + "'");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("differs: opal_list_t"));
  EXPECT_THAT(ran.out, HasSubstr("not there: ompi_request_t"));
  EXPECT_THAT(ran.err, HasSubstr("types.mismatch"));
  EXPECT_THAT(ran.err, HasSubstr("\nfix: "));
}

/// The shipped pack, and the same with another size of one private type of ob1.
TEST(TypesCheck, ComparesTheTypesOfOb1) {
  const TemporaryFolder folder;
  const std::string shipped = read_file(MQBRIDGE_TEST_PACK);
  const std::string file = (folder / "ompi.types").string();
  write_file(file, shipped);
  EXPECT_THAT(run("mqbridge types check '" + file + "'").out, HasSubstr("all agree\n"));
  constexpr std::string_view type = "type mca_pml_ob1_comm_proc_t ";
  const auto at = shipped.find(type);
  ASSERT_NE(at, std::string::npos);
  write_file(file, std::string(shipped).insert(at + type.size(), "9"));
  const Ran ran = run("mqbridge types check '" + file + "'");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, StartsWith("differs: mca_pml_ob1_comm_proc_t: 9"));
  EXPECT_THAT(ran.err, HasSubstr("fix: mqbridge types make --mpi openmpi --source DIR"));
}

TEST(TypesCheck, NamesALibraryThatCannotBeRead) {
  const TemporaryFolder folder;
  const std::string file = (folder / "small.types").string();
  write_file(file, pack);
  const Ran ran = run("mqbridge types check '" + file + "' --library /nowhere.so");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("/nowhere.so"));
}

} // namespace
} // namespace mqbridge::test
