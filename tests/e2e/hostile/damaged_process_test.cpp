// Real processes whose memory is damaged while they live, dumped as a user does it: gdbserver, the
// debug DLL of the MPI in its sandbox. The rank says what is wrong, the one beside it is complete,
// and the process comes to its end once it has its memory back.

#include "dll/recorder/layout.h"
#include "host/types/types_file.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/mqs/process_memory.h"
#include "tests/support/faults_tried.h"
#include "tests/support/process_table.h"

#include <cstring>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <span>
#include <stdexcept>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A process's memory, and what it is made of.
class Anatomy {
public:
  explicit Anatomy(pid_t pid) : pid_(pid), images_(images_of_process(pid).value()) {}

  pid_t pid() const { return pid_; }
  std::uint64_t symbol(const char* name) const {
    return images_.find_symbol(name).value().address.value;
  }
  void add_types(const char* file) { images_.add_type_source(open_types_file(file).value()); }
  std::uint64_t offset(const char* type, const char* field) {
    return images_.find_type(type).value()->find_field(field)->offset;
  }
  std::uint64_t pointer(std::uint64_t address) const {
    const auto bytes = test::memory_of(pid_, address, sizeof address);
    if (bytes.size() != sizeof address)
      throw std::runtime_error("a pointer of the process cannot be read");
    std::memcpy(&address, bytes.data(), sizeof address);
    return address;
  }

private:
  pid_t pid_;
  ImageSet images_;
};

/// An integer of a process that is something else while this lives.
class Damage {
public:
  Damage(pid_t pid, std::uint64_t address, std::uint64_t value, std::size_t size)
      : file_(::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC)),
        address_(static_cast<off_t>(address)), before_(test::memory_of(pid, address, size)) {
    if (before_.size() != size || ::pwrite(file_, &value, size, address_) < 0)
      throw std::runtime_error("the process's memory cannot be written to");
  }
  ~Damage() {
    EXPECT_EQ(::pwrite(file_, before_.data(), before_.size(), address_),
              static_cast<ssize_t>(before_.size()));
    ::close(file_);
  }
  Damage(const Damage&) = delete;
  Damage& operator=(const Damage&) = delete;

private:
  int file_;
  off_t address_;
  std::string before_;
};

struct Place {
  std::uint64_t address;
  std::uint64_t value;
  std::size_t size;
};

struct Case {
  const char* name;
  Place (*place)(Anatomy& process);
  const char* code; ///< of the rank's error
  const char* says; ///< a word of its message
};

void PrintTo(const Case& param, std::ostream* stream) {
  *stream << param.name;
}

std::vector<std::string> recorder_arguments() {
  return {"10", "65536", "1"};
}

/// The damaged rank and an honest one.
json dump_both(pid_t damaged, const SingleProcess& other) {
  const auto dump = dump_json(
      {"--max-stop", "5", "0=" + local_target(damaged), "1=" + local_target(other.pid())});
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  EXPECT_EQ(dump.document["ranks"].size(), 2U);
  EXPECT_EQ(dump.document["ranks"][1]["status"], "ok") << dump.document["ranks"][1].dump(2);
  return dump.document["ranks"][0];
}

void expect_error(const json& rank, const Case& param) {
  const json error = find_error(rank, param.code);
  ASSERT_TRUE(error.is_object()) << rank["errors"].dump(2);
  EXPECT_EQ(error["level"], "error");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(param.says));
  EXPECT_THAT(error["hint"].get<std::string>(), Not(IsEmpty()));
  EXPECT_THAT(test::orphans("mqbridge-worker"), IsEmpty());
}

class DamagedOpenMpi : public testing::TestWithParam<Case> {};

TEST_P(DamagedOpenMpi, CostsOneRankAnErrorAndTheProcessNothing) {
  test::faults_tried(1);
  SingleProcess victim("mpi_victim");
  SingleProcess other("recorder_list", recorder_arguments());
  Anatomy process(victim.pid());
  process.add_types(MQBRIDGE_TEST_PACK);
  {
    const auto place = GetParam().place(process);
    const Damage damage(victim.pid(), place.address, place.value, place.size);
    expect_error(dump_both(victim.pid(), other), GetParam());
    EXPECT_TRUE(makes_progress(victim.directory(), 5s));
  }
  EXPECT_EQ(victim.finish(), "");
}

std::uint64_t receives(const Anatomy& process) {
  return process.symbol("mca_pml_base_recv_requests");
}

INSTANTIATE_TEST_SUITE_P(
    , DamagedOpenMpi,
    testing::Values(Case{"ZeroDivisor",
                         [](Anatomy& process) {
                           return Place{receives(process) +
                                            process.offset("opal_free_list_t", "fl_num_per_alloc"),
                                        0, 4};
                         },
                         "dll.crashed", "SIGFPE"},
                    Case{"CyclicList",
                         [](Anatomy& process) {
                           const auto next = process.offset("opal_list_item_t", "opal_list_next");
                           const auto sentinel =
                               receives(process) +
                               process.offset("opal_free_list_t", "fl_allocations") +
                               process.offset("opal_list_t", "opal_list_sentinel");
                           const auto first = process.pointer(sentinel + next);
                           return Place{first + next, first, 8};
                         },
                         "walk.max_stop", "time"}),
    [](const auto& of) { return std::string(of.param.name); });

/// Garbage that the DLL believes: the first of its communicators is not the one that it should be.
TEST(DamagedOpenMpiWorld, ThatIsNotListedIsAWarning) {
  test::faults_tried(1);
  SingleProcess victim("mpi_victim");
  Anatomy process(victim.pid());
  process.add_types(MQBRIDGE_TEST_PACK);
  {
    const auto array = process.pointer(process.symbol("ompi_mpi_communicators") +
                                       process.offset("opal_pointer_array_t", "addr"));
    const Damage damage(victim.pid(), array, process.pointer(array + sizeof array), sizeof array);
    const auto dump = dump_json({local_target(victim.pid())});
    ASSERT_EQ(dump.document["ranks"].size(), 1U) << testing::PrintToString<Outcome>(dump);
    const json warning = find_error(dump.document["ranks"][0], "walk.no_world");
    ASSERT_TRUE(warning.is_object()) << dump.document["ranks"][0].dump(2);
    EXPECT_EQ(warning["level"], "warning");
    EXPECT_THAT(warning["message"].get<std::string>(), HasSubstr("none is MPI_COMM_WORLD"));
  }
  const auto whole = dump_json({local_target(victim.pid())});
  EXPECT_EQ(whole.status(), 0);
  EXPECT_TRUE(find_error(whole.document["ranks"][0], "walk.no_world").is_null());
  EXPECT_EQ(victim.finish(), "");
}

class DamagedRecorder : public testing::TestWithParam<Case> {};

TEST_P(DamagedRecorder, CostsOneRankAnErrorAndTheProcessNothing) {
  test::faults_tried(1);
  SingleProcess victim("recorder_list", recorder_arguments());
  SingleProcess other("recorder_list", recorder_arguments());
  Anatomy process(victim.pid());
  {
    const auto place = GetParam().place(process);
    const Damage damage(victim.pid(), place.address, place.value, place.size);
    expect_error(dump_both(victim.pid(), other), GetParam());
  }
  EXPECT_EQ(dump_json({local_target(victim.pid())}).status(), 0) << "it has its memory back";
  EXPECT_EQ(victim.finish(), "");
}

std::uint64_t root_of(const Anatomy& process) {
  return process.symbol(MQR_ROOT_SYMBOL);
}
std::uint64_t first_communicator(const Anatomy& process) {
  return process.pointer(root_of(process) + offsetof(mqr_root, communicators));
}
std::uint64_t first_receive(const Anatomy& process) {
  return process.pointer(first_communicator(process) + offsetof(mqr_communicator, queues) +
                         MQR_RECEIVE * sizeof(mqr_list));
}

INSTANTIATE_TEST_SUITE_P(
    , DamagedRecorder,
    testing::Values(
        Case{"SizeOfZero",
             [](Anatomy& process) {
               return Place{root_of(process) + offsetof(mqr_root, operation_size), 0, 2};
             },
             "dll.no_queues", "smaller than"},
        Case{"FreedCommunicator",
             [](Anatomy& process) {
               return Place{root_of(process) + offsetof(mqr_root, communicators),
                            first_receive(process), 8};
             },
             "dll.failed", "wrong magic"},
        Case{"UnmappedCommunicator",
             [](Anatomy& process) {
               return Place{root_of(process) + offsetof(mqr_root, communicators), 0x300, 8};
             },
             "dll.failed", "cannot be read"}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(DamagedRecorderQueue, ThatIsACycleIsAnErrorOfThatQueueAlone) {
  test::faults_tried(1);
  SingleProcess victim("recorder_list", recorder_arguments());
  SingleProcess other("recorder_list", recorder_arguments());
  const Anatomy process(victim.pid());
  {
    const auto first = first_receive(process);
    const Damage damage(victim.pid(), first + offsetof(mqr_node, next), first, sizeof first);
    const json rank = dump_both(victim.pid(), other);
    EXPECT_EQ(rank["status"], "partial");
    const json queues = find_communicator(rank, "MPI_COMM_WORLD")["queues"];
    EXPECT_EQ(queues["receive"]["state"], "error");
    EXPECT_THAT(queues["receive"]["error"].get<std::string>(), HasSubstr("seen before"));
    EXPECT_EQ(queues["send"]["state"], "available");
    EXPECT_EQ(queues["unexpected"]["state"], "available");
  }
  EXPECT_EQ(victim.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
