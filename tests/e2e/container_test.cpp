// A rank in namespaces of its own, as in a container: with another number inside than outside, or
// with other files behind the same names.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/own_root.h"
#include "tests/support/gdb_server.h"
#include "tests/support/pid_namespace.h"
#include "tests/support/process_table.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

test::ChildSpec contained(const std::filesystem::path& directory) {
  test::ChildSpec spec = SingleProcess::command("oracle_poster", directory, {"mix"});
  const auto entry = test::in_own_pid_namespace();
  spec.argv.insert(spec.argv.begin(), entry.begin(), entry.end());
  return spec;
}

TEST(ContainerTest, ANodeCommandLeadsToARankInside) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has namespaces";
  SingleProcess process(contained);
  process.await_ready();
  pid_t inside = 0;
  std::ifstream(process.directory() / "ready.0") >> inside;
  const pid_t outside = test::PidNamespace(process.pid()).pid_here(inside);
  ASSERT_NE(outside, inside);
  const Census census;
  const DumpOutcome dump =
      dump_json({"--node-command", "nsenter -t {pid} -a", local_target(outside)});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(differences(read_oracle(process.directory(), 0), dump.document["ranks"][0]),
              IsEmpty());
  EXPECT_THAT(still_held({outside}, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(process.finish(), "");
}

TEST(ContainerTest, ALauncherInsideLeadsToItsRanksAsTheNodeNumbersThem) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has namespaces";
  SingleProcess process([](const std::filesystem::path& directory) {
    test::ChildSpec spec = SingleProcess::command("oracle_poster", directory, {"mix"});
    auto entry = test::in_own_pid_namespace();
    entry.insert(entry.end(), {"mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "1"});
    spec.argv.insert(spec.argv.begin(), entry.begin(), entry.end());
    return spec;
  });
  process.await_ready();
  pid_t inside = 0;
  std::ifstream(process.directory() / "ready.0") >> inside;
  const test::PidNamespace container(process.pid());
  const DumpOutcome dump = dump_json({"--mpirun", std::to_string(container.first())});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["pid"], container.pid_here(inside));
  EXPECT_THAT(differences(read_oracle(process.directory(), 0), rank), IsEmpty());
  EXPECT_EQ(process.finish(), "");
}

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A copy of `file` that says that it is of another build.
void copy_of_another_build(const std::filesystem::path& file, const std::filesystem::path& copy) {
  auto bytes = contents_of(file);
  const std::string note("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16); // and 20 bytes of SHA-1
  const auto at = bytes.find(note);
  if (at == std::string::npos)
    throw std::runtime_error(file.string() + " has no build-id");
  for (std::size_t i = 0; i < 20; ++i)
    bytes[at + note.size() + i] = static_cast<char>(~bytes[at + note.size() + i]);
  std::ofstream(copy, std::ios::binary) << bytes;
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
}

/// A process whose program is of another build than the file of that name on this host.
class RankWithOtherFiles : public testing::Test {
protected:
  void SetUp() override {
    if (const auto lacking = lacking_own_roots(); !lacking.empty())
      GTEST_SKIP() << lacking;
    process_.emplace([this](const std::filesystem::path& directory) {
      test::ChildSpec spec = SingleProcess::command("oracle_poster", directory, {"mix"});
      program_ = spec.argv.front();
      copy_of_another_build(program_, files_ / "instead");
      std::filesystem::create_directory(files_ / "root");
      const auto entry = in_own_root(files_ / "root", "/", {{files_ / "instead", program_}});
      spec.argv.insert(spec.argv.begin(), entry.begin(), entry.end());
      return spec;
    });
    process_->await_ready();
  }
  void TearDown() override {
    if (process_) {
      EXPECT_EQ(process_->finish(), "") << "the rank was not disturbed";
    }
  }

  /// Lets `file` stand for the one with that name, which the process has loaded already.
  void put_there(const std::filesystem::path& file, const std::filesystem::path& name) const {
    const auto done = run_program(
        {{"nsenter", "-m", "-t", std::to_string(process_->pid()), "mount", "--bind", file, name}});
    ASSERT_EQ(done.status(), 0) << testing::PrintToString(done);
  }

  test::TempDirectory files_;
  std::filesystem::path program_;
  std::optional<SingleProcess> process_;
};

TEST_F(RankWithOtherFiles, IsReadFromThoseThatItSees) {
  const DumpOutcome dump = dump_json({local_target(process_->pid())});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(differences(read_oracle(process_->directory(), 0), dump.document["ranks"][0]),
              IsEmpty());
  const Outcome stacks = run_mqbridge({"stacks", local_target(process_->pid())});
  ASSERT_EQ(stacks.status(), 0) << testing::PrintToString(stacks);
  EXPECT_THAT(stacks.out, HasSubstr("job_files.c:")) << "by the program's own debug information";
  EXPECT_THAT(stacks.out, Not(HasSubstr("code of no file")));
}

TEST_F(RankWithOtherFiles, IsReadFromThoseThatItSeesBehindAGdbserverThatSomebodyStarted) {
  for (const auto mode : {test::ServerMode::attach_once, test::ServerMode::multi}) {
    SCOPED_TRACE(to_string(mode));
    const test::GdbServer server(mode, process_->pid());
    const DumpOutcome dump = dump_json({"--fetch-files", "never", server.endpoint()});
    ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    EXPECT_THAT(differences(read_oracle(process_->directory(), 0), dump.document["ranks"][0]),
                IsEmpty());
  }
  EXPECT_THAT(still_held({process_->pid()}, 5s), IsEmpty());
}

TEST_F(RankWithOtherFiles, HasNoFifoOpened) {
  ASSERT_EQ(::mkfifo((files_ / "fifo").c_str(), 0600), 0);
  put_there(files_ / "fifo", program_);
  const DumpOutcome dump = dump_json({local_target(process_->pid())});
  EXPECT_FALSE(dump.timed_out);
  const json error = find_error(dump.document["ranks"][0], "elf.open");
  ASSERT_FALSE(error.is_null()) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(
      error["message"].get<std::string>(),
      HasSubstr(fmt::format("/root{} is not a regular file, but a FIFO", program_.string())));
  EXPECT_THAT(still_held({process_->pid()}, 5s), IsEmpty());
}

} // namespace
} // namespace mqbridge::e2e
