// What mqbridge reads of what the recorder keeps of MPI_T is what the process itself reads through
// MPI_T (tests/inferiors/tool_variables.c, tool_samples.c).

#include "host/mpi/mpi_support.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/mpi/said_variables.h"
#include "tests/mqs/process_memory.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <memory>
#include <set>

namespace mqbridge {
namespace {

using e2e::SingleProcess;
using testing::ContainerEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Mpi {
  std::string name;
  std::string recorder;
  std::string programs; ///< in front of the name of an inferior
  std::size_t controls; ///< that it has at least
};

void PrintTo(const Mpi& mpi, std::ostream* out) {
  *out << mpi.name;
}

const Mpi openmpi = {"openmpi", MQBRIDGE_RECORDER_OPENMPI, "", 600};
const Mpi mpich = {"mpich", MQBRIDGE_RECORDER_MPICH, "debian-mpich/", 300};

/// Stands still as long as the object lives.
class Stopped {
public:
  explicit Stopped(pid_t pid) : pid_(pid), memory_(pid), images_(images_of_process(pid).value()) {
    ::kill(pid, SIGSTOP);
    platform_.architecture = "x86_64";
  }
  ~Stopped() { ::kill(pid_, SIGCONT); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

  Result<std::optional<ProcessVariables>> read() {
    return support_of("recorder").read_variables({images_, memory_, platform_}, warnings);
  }

  Warnings warnings;

private:
  pid_t pid_;
  ProcessMemory memory_;
  ImageSet images_;
  Platform platform_;
};

/// `variables`: MQBRIDGE_VARIABLES.
std::unique_ptr<SingleProcess> recorded(const Mpi& mpi, const std::string& variables = "1") {
  auto process = std::make_unique<SingleProcess>([&](const auto& directory) {
    auto spec = SingleProcess::command(mpi.programs + "tool_variables", directory);
    spec.environment.emplace_back("LD_PRELOAD", mpi.recorder);
    spec.environment.emplace_back("MQBRIDGE_VARIABLES", variables);
    return spec;
  });
  process->await_ready();
  return process;
}

const Variable* find(const ProcessVariables& all, std::string_view name) {
  const auto found = std::ranges::find(all.variables, name, &Variable::name);
  return found != all.variables.end() ? &*found : nullptr;
}

class RecorderVariables : public testing::TestWithParam<Mpi> {};

INSTANTIATE_TEST_SUITE_P(, RecorderVariables, testing::Values(openmpi, mpich),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(RecorderVariables, AreWhatTheProcessReadsThroughMpiT) {
  const auto process = recorded(GetParam());
  Stopped stopped(process->pid());
  const auto all = stopped.read();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_TRUE(*all);
  EXPECT_THAT(stopped.warnings, IsEmpty());
  EXPECT_TRUE((*all)->whole);
  EXPECT_THAT((*all)->sources, ElementsAre(VariableSource::recorder));
  EXPECT_GT(*(*all)->listed_s, 0);
  EXPECT_LT(*(*all)->listed_s, 60);
  EXPECT_GT(std::ranges::count((*all)->variables, VariableKind::control, &Variable::kind),
            static_cast<std::ptrdiff_t>(GetParam().controls));
  test::expect_said(**all, test::said_by(process->directory()));
  // All were read when they were listed.
  for (const auto& variable : (*all)->variables) {
    if (variable.kind != VariableKind::control)
      continue;
    EXPECT_TRUE(variable.readings.at(0).earlier) << variable.name;
    EXPECT_EQ(variable.readings.at(0).age_s, (*all)->listed_s) << variable.name;
  }
}

TEST_P(RecorderVariables, AreLeftAloneWhereTheEnvironmentSaysSo) {
  const auto process = recorded(GetParam(), "0");
  Stopped stopped(process->pid());
  const auto all = stopped.read();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_FALSE(*all);
  ASSERT_THAT(stopped.warnings, SizeIs(1));
  EXPECT_EQ(stopped.warnings[0].code, "variables.not_recorded");
  EXPECT_THAT(stopped.warnings[0].message, HasSubstr("MQBRIDGE_VARIABLES=0"));
}

TEST(RecorderSamples, AreWhatTheProcessReadsThroughMpiT) {
  const std::vector<std::string> names = {"pml_ob1_unexpected_msgq_length",
                                          "pml_ob1_posted_recvq_length"};
  e2e::JobSpec spec{.program = "tool_samples", .arguments = names};
  spec.environment = {{"LD_PRELOAD", openmpi.recorder}, {"MQBRIDGE_VARIABLES", "1"}};
  e2e::MpiJob job(spec);
  {
    Stopped stopped(job.pid(0));
    const auto all = stopped.read().value().value();
    EXPECT_THAT(stopped.warnings, IsEmpty());
    const auto lines = test::samples_of(all, names);
    EXPECT_THAT(lines, ContainerEq(test::samples_said_by(job.directory())));
    for (const auto& reading : find(all, names[0])->readings) {
      if (reading.object == "late")
        continue;
      EXPECT_TRUE(reading.earlier);
      EXPECT_GE(*reading.age_s, 0);
      EXPECT_LT(*reading.age_s, 30);
    }
    EXPECT_TRUE(lines.contains("pml_ob1_unexpected_msgq_length MPI_COMM_WORLD 0 2"));
    EXPECT_TRUE(lines.contains("pml_ob1_unexpected_msgq_length own 0 1"));
    EXPECT_TRUE(lines.contains("pml_ob1_posted_recvq_length own 0 1"));
    // The communicator that came after the sample is named, and has no value.
    const auto late =
        std::ranges::find(find(all, names[0])->readings, "late", &VariableReading::object);
    ASSERT_NE(late, find(all, names[0])->readings.end());
    EXPECT_FALSE(late->value);
    EXPECT_THAT(late->reason, HasSubstr("not sampled"));
    // What reading could end the process with is not read, and says so.
    const auto* unused = find(all, "mtl_psm2_rx_user_num");
    if (unused != nullptr) {
      ASSERT_THAT(unused->readings, SizeIs(1));
      EXPECT_FALSE(unused->readings[0].value);
      EXPECT_THAT(unused->readings[0].reason, HasSubstr("may not be in use"));
    }
  }
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge
