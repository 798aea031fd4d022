// Which MPI a process uses, by its symbols and what they hold.

#include "dll/recorder/layout.h"
#include "host/mpi/mpi_library.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/openmpi/openmpi_process.h"
#include "tests/mqs/test_target.h"

#include <cstring>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

std::vector<Image> objects(const std::string& first, const std::vector<std::string>& others) {
  std::vector<std::string> likes = others;
  likes.insert(likes.begin(), first);
  std::vector<Image> loaded;
  LoadBias bias{0x10000};
  for (const auto& like : likes) {
    const auto one =
        images_of(std::string(MQBRIDGE_TEST_DLLS) + "/" + like + ".so", like + ".so", bias);
    loaded.push_back(one.images().front());
    bias.value += 0x1000000;
  }
  return loaded;
}

/// A process with the symbols of mpi_symbols.c.
class Process {
public:
  /// In the order of the link map: the program itself first.
  explicit Process(const std::string& like, const std::vector<std::string>& others = {})
      : images(objects(like, others)) {}

  /// What a recorder of this platform has, whatever hangs on it.
  void recorder(std::uint32_t state) {
    mqr_root root{};
    root.magic = MQR_MAGIC_ROOT;
    root.version_major = MQR_VERSION_MAJOR;
    root.version_minor = MQR_VERSION_MINOR;
    root.root_size = sizeof(mqr_root);
    root.communicator_size = sizeof(mqr_communicator);
    root.operation_size = sizeof(mqr_operation);
    root.address_size = 8;
    root.state = state;
    std::vector<std::uint8_t> bytes(sizeof root);
    std::memcpy(bytes.data(), &root, sizeof root);
    memory.put(images.find_symbol(MQR_ROOT_SYMBOL)->address, bytes);
  }

  void text(const char* symbol, std::string value) {
    const auto size = images.find_symbol(symbol)->size;
    value.resize(size);
    memory.put(images.find_symbol(symbol)->address, {value.begin(), value.end()});
  }

  std::optional<MpiLibrary> identify() {
    auto found = identify_mpi({images, memory, Platform()});
    EXPECT_TRUE(found);
    return std::move(found).value();
  }

  ImageSet images;
  FakeMemory memory;
};

TEST(IdentifyMpi, OpenMpi) {
  Process process("LIKE_OPENMPI");
  process.text("ompi_version_string", "4.1.4");
  process.text("MPIR_dll_name", "/usr/lib/x.so");
  const auto mpi = process.identify();
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "openmpi");
  EXPECT_EQ(mpi->name, "Open MPI");
  EXPECT_EQ(mpi->version, "4.1.4");
  EXPECT_EQ(mpi->dll_name, "/usr/lib/x.so");
  EXPECT_EQ(mpi->image->target_path, "LIKE_OPENMPI.so");
}

TEST(IdentifyMpi, Mpich) {
  Process process("LIKE_MPICH");
  process.text("MPII_Version_string", "4.0.2");
  process.text("MPIR_dll_name", "");
  const auto mpi = process.identify();
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "mpich");
  EXPECT_EQ(mpi->version, "4.0.2");
  EXPECT_EQ(mpi->dll_name, "");
}

TEST(IdentifyMpi, WhatIsRecordedIsReadFromTheRecorder) {
  Process process("LIKE_RECORDED_OPENMPI");
  process.text("ompi_version_string", "4.1.4");
  process.text("mqbridge_recorder_version", "1.0");
  process.text("MPIR_dll_name", "/usr/lib/x.so");
  const auto mpi = process.identify();
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "recorder");
  EXPECT_EQ(mpi->recorded, "openmpi");
  EXPECT_EQ(mpi->name, "Open MPI") << "the recorder is none";
  EXPECT_EQ(mpi->version, "4.1.4");
  EXPECT_EQ(&support_of_mpi(*mpi), &support_of("openmpi"));
}

TEST(IdentifyMpi, AnMpiBesideARecorder) {
  Process process("LIKE_NOTHING", {"LIKE_RECORDER", "LIKE_OPENMPI"});
  process.recorder(MQR_INITIALIZED);
  process.text("ompi_version_string", "4.1.4");
  const auto mpi = process.identify();
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "recorder");
  EXPECT_EQ(mpi->recorded, "openmpi");
  EXPECT_EQ(mpi->name, "Open MPI");
  EXPECT_EQ(mpi->image->target_path, "LIKE_OPENMPI.so");
}

/// As with an MPI that is linked into the program and calls nothing of what was preloaded.
TEST(IdentifyMpi, ARecorderThatRecordsNothingIsPassedOver) {
  Process process("LIKE_NOTHING", {"LIKE_RECORDER", "LIKE_OPENMPI"});
  process.recorder(MQR_NOT_INITIALIZED);
  const auto mpi = process.identify();
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "openmpi");
  EXPECT_EQ(mpi->recorded, "");
}

/// LD_PRELOAD brings it into mpirun and sh, too.
TEST(IdentifyMpi, ARecorderAloneIsNoMpi) {
  Process process("LIKE_NOTHING", {"LIKE_RECORDER"});
  process.recorder(MQR_NOT_INITIALIZED);
  EXPECT_FALSE(process.identify());
  Process linked("LIKE_RECORDER"); // and not by LD_PRELOAD
  linked.recorder(MQR_NOT_INITIALIZED);
  const auto mpi = linked.identify();
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "recorder");
  EXPECT_EQ(mpi->name, "mqbridge recorder");
  EXPECT_EQ(mpi->recorded, "");
}

TEST(IdentifyMpi, AnMpiThatOnlyItsRecorderKnows) {
  Process process("LIKE_NOTHING", {"LIKE_RECORDER", "LIKE_ANY_MPI"});
  process.recorder(MQR_NOT_INITIALIZED);
  auto mpi = process.identify();
  ASSERT_TRUE(mpi) << "before MPI_Init";
  EXPECT_EQ(mpi->provider, "recorder");
  process.recorder(MQR_INITIALIZED);
  mpi = process.identify();
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "recorder");
  EXPECT_EQ(mpi->recorded, "other");
  EXPECT_EQ(mpi->name, "MPI");
  EXPECT_EQ(mpi->image->target_path, "LIKE_ANY_MPI.so");
}

TEST(IdentifyMpi, AnMpiThatOnlyNamesItsDll) {
  Process process("LIKE_OTHER");
  process.text("MPIR_dll_name", "libmine.so");
  const auto mpi = process.identify();
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "other");
  EXPECT_EQ(mpi->name, "MPI");
  EXPECT_EQ(mpi->dll_name, "libmine.so");
}

TEST(IdentifyMpi, NoMpi) {
  EXPECT_FALSE(Process("LIKE_NOTHING").identify());
}

TEST(IdentifyMpi, WhatCannotBeReadIsNotKnown) {
  const auto mpi = Process("LIKE_OPENMPI").identify();
  ASSERT_TRUE(mpi);
  EXPECT_FALSE(mpi->version);
  EXPECT_EQ(mpi->dll_name, "");
}

TEST(IdentifyMpi, GarbageIsNoVersion) {
  Process process("LIKE_OPENMPI");
  for (const char* garbage : {"\x01\x02", "4.1.4\n", "$(reboot)", ""}) {
    process.text("ompi_version_string", garbage);
    EXPECT_FALSE(process.identify()->version) << garbage;
  }
}

TEST(IdentifyMpi, ATextWithoutAnEndEndsWithItsArray) {
  Process process("LIKE_OPENMPI");
  process.text("MPIR_dll_name", std::string(64, 'x'));
  EXPECT_EQ(process.identify()->dll_name, std::string(64, 'x'));
  EXPECT_FALSE(process.identify()->dll_name_ends);
  process.text("MPIR_dll_name", std::string(63, 'x'));
  EXPECT_TRUE(process.identify()->dll_name_ends);
}

TEST(IdentifyMpi, ALostConnectionIsTheError) {
  Process process("LIKE_OPENMPI");
  process.memory.fail_with({"connect.lost", "gone", ""});
  const auto found = identify_mpi({process.images, process.memory, Platform()});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "connect.lost");
}

class OpenMpiState : public testing::TestWithParam<Platform> {};

INSTANTIATE_TEST_SUITE_P(, OpenMpiState, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(OpenMpiState, IsReadInTheTargetsByteOrder) {
  const std::pair<std::uint64_t, MpiState> cases[] = {
      {0, MpiState::not_initialized}, {1, MpiState::not_initialized}, {2, MpiState::initialized},
      {3, MpiState::finalizing},      {4, MpiState::finalizing},      {5, MpiState::finalized},
      {6, MpiState::unknown},         {0xffffffff, MpiState::unknown}};
  for (const auto& [value, state] : cases) {
    Process process("LIKE_OPENMPI");
    process.memory.put_integer(process.images.find_symbol("ompi_mpi_state")->address, value, 4,
                               GetParam().byte_order == ByteOrder::big);
    EXPECT_EQ(openmpi::read_state({process.images, process.memory, GetParam()}).value(), state)
        << value;
  }
}

// MPI_Session_init makes the list of communicators, and leaves ompi_mpi_state as it is.
TEST_P(OpenMpiState, OfAProcessInASessionAloneIsUnknownAndItNeedsNoWorld) {
  const bool big = GetParam().byte_order == ByteOrder::big;
  const auto pointer = static_cast<std::size_t>(GetParam().pointer_size);
  struct Case {
    const char* like;
    std::uint64_t list; ///< first word of ompi_mpi_communicators
    std::uint64_t state;
    MpiState truth;
    bool may_lack_world;
  };
  for (const auto& [like, list, state, truth, may_lack_world] :
       {Case{"LIKE_OPENMPI_5", 0, 0, MpiState::not_initialized, false},
        Case{"LIKE_OPENMPI_5", 0x7f000000, 0, MpiState::unknown, true},
        Case{"LIKE_OPENMPI_5", 0x7f000000, 1, MpiState::not_initialized, false},
        Case{"LIKE_OPENMPI_5", 0x7f000000, 2, MpiState::initialized, false},
        Case{"LIKE_OPENMPI", 0x7f000000, 0, MpiState::not_initialized, false}}) {
    Process process(like);
    const auto put = [&](const char* symbol, std::uint64_t value, std::size_t size) {
      process.memory.put_integer(process.images.find_symbol(symbol)->address, value, size, big);
    };
    put("ompi_mpi_communicators", list, pointer);
    put("ompi_mpi_state", state, 4);
    const auto read = openmpi::read_state({process.images, process.memory, GetParam()}).value();
    EXPECT_EQ(read, truth) << like << ' ' << list << ' ' << state;
    EXPECT_EQ(support_of("openmpi").may_lack_world(process.images, read), may_lack_world);
  }
}

TEST_P(OpenMpiState, IsUnknownWhereItCannotBeRead) {
  Process process("LIKE_OPENMPI");
  EXPECT_EQ(openmpi::read_state({process.images, process.memory, GetParam()}).value(),
            MpiState::unknown);
  Process other("LIKE_MPICH");
  EXPECT_EQ(openmpi::read_state({other.images, other.memory, GetParam()}).value(),
            MpiState::unknown);
}

} // namespace
} // namespace mqbridge
