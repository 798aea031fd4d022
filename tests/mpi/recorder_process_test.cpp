// A real Open MPI process under the preloaded recorder: what this says, by mqbridge's own debug
// DLL, is what Open MPI's debug DLL says of the same process at the same instant, operation by
// operation.

#include "host/mpi/mpi_library.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/repairs.h"
#include "host/mqs/walk.h"
#include "host/types/types_file.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/mqs/process_memory.h"

#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>
#include <sys/wait.h>

namespace mqbridge {
namespace {

using testing::ContainerEq;

/// Reads one process of a job, which stands still meanwhile.
class StoppedRank {
public:
  explicit StoppedRank(pid_t pid) : pid_(pid), memory_(pid) {
    ::kill(pid, SIGSTOP);
    platform_.architecture = "x86_64";
    images_ = std::make_unique<ImageSet>(images_of_process(pid).value());
    images_->add_type_source(open_types_file(MQBRIDGE_TEST_PACK).value());
    mpi_ = identify_mpi(space()).value().value();
  }
  ~StoppedRank() { ::kill(pid_, SIGCONT); }
  StoppedRank(const StoppedRank&) = delete;
  StoppedRank& operator=(const StoppedRank&) = delete;

  AddressSpace space() { return {*images_, memory_, platform_}; }
  const MpiLibrary& mpi() const { return mpi_; }

  std::vector<Communicator> read(const std::string& provider, const std::string& dll) {
    auto mpi = mpi_;
    mpi.provider = provider;
    WalkRequest request{MQBRIDGE_WORKER, dll, space(), "rank"};
    request.op_classes = {OpClass::send, OpClass::receive};
    request.max_operations = 10'000;
    auto result = walk_queues(request);
    EXPECT_FALSE(result.failure) << provider << ": " << result.failure->message;
    EXPECT_TRUE(repair(result.communicators, mpi, space()));
    const auto outcome = support_of(provider).add_unshown(result.communicators, {}, space());
    EXPECT_TRUE(outcome);
    EXPECT_FALSE(outcome && outcome->damage) << outcome->damage->message;
    return std::move(result.communicators);
  }

private:
  pid_t pid_;
  ProcessMemory memory_;
  Platform platform_;
  std::unique_ptr<ImageSet> images_;
  MpiLibrary mpi_;
};

std::string text_of(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "?";
}

std::string text_of(const Communicator& communicator, OpClass op_class,
                    const Operation& operation) {
  return fmt::format("{} {}: peer {} {}/{} tag {} {} length {} buffer {:#x} request {:#x}{}",
                     communicator.name, op_class == OpClass::send ? "send" : "receive",
                     operation.peer.any, text_of(operation.peer.local_rank),
                     text_of(operation.peer.global_rank), operation.tag.any,
                     text_of(operation.tag.value), text_of(operation.length.value),
                     operation.buffer.value_or(TargetAddress{}).value,
                     operation.request.value_or(TargetAddress{}).value,
                     operation.status == OpStatus::inactive ? " inactive" : "");
}

struct Operations {
  std::multiset<std::string> all;
  std::multiset<std::string> returned; ///< communicator and tag of sends
};

/// A message that MPI_Mprobe has taken is no receive, as Open MPI has it.
Operations operations_of(const std::vector<Communicator>& communicators) {
  Operations found;
  for (const auto& communicator : communicators)
    for (const OpClass op_class : {OpClass::send, OpClass::receive})
      for (const Operation& operation : communicator.queue(op_class).operations) {
        if (operation.collective != Collective::none || operation.kind == OpKind::message)
          continue;
        if (operation.status == OpStatus::complete && !operation.request)
          found.returned.insert(
              fmt::format("{} {}", communicator.name, text_of(operation.tag.value)));
        else
          found.all.insert(text_of(communicator, op_class, operation));
      }
  return found;
}

/// Those of the MPI. It keeps the copy of a buffered send that has returned.
std::multiset<std::string> without_returned(const std::vector<Communicator>& communicators,
                                            const std::multiset<std::string>& returned) {
  std::multiset<std::string> kept;
  for (const auto& communicator : communicators)
    for (const OpClass op_class : {OpClass::send, OpClass::receive})
      for (const Operation& operation : communicator.queue(op_class).operations) {
        const auto name = fmt::format("{} {}", communicator.name, text_of(operation.tag.value));
        const bool copy = op_class == OpClass::send && operation.system_buffer &&
                          operation.status == OpStatus::complete && returned.contains(name);
        if (operation.collective == Collective::none && operation.kind != OpKind::message && !copy)
          kept.insert(text_of(communicator, op_class, operation));
      }
  return kept;
}

class RecorderProcess : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(, RecorderProcess, testing::Values("mix", "inter", "blocked_waitall"),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(RecorderProcess, SaysWhatOpenMpiSays) {
  e2e::JobSpec spec{.arguments = {GetParam()}};
  spec.environment = {{"LD_PRELOAD", MQBRIDGE_RECORDER_OPENMPI}};
  e2e::MpiJob job(spec);
  std::size_t seen = 0;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    StoppedRank stopped(job.pid(rank));
    EXPECT_EQ(stopped.mpi().provider, "recorder");
    EXPECT_EQ(stopped.mpi().recorded, "openmpi");
    EXPECT_EQ(stopped.mpi().name, "Open MPI");
    const auto recorded = operations_of(stopped.read("recorder", MQBRIDGE_QUEUES_DLL));
    const auto mpis = stopped.read("openmpi", stopped.mpi().dll_name);
    EXPECT_THAT(recorded.all, ContainerEq(without_returned(mpis, recorded.returned)))
        << "rank " << rank;
    seen += recorded.all.size();
  }
  EXPECT_GT(seen, 1U);
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge
