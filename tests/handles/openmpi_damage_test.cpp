// libmqbridge-handles.so where an Open MPI process is damaged, or not known well enough.

#include "host/types/types_file.h"
#include "tests/handles/damaged_memory.h"
#include "tests/handles/stopped_rank.h"
#include "tests/support/faults_tried.h"

#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;

constexpr const char* amd64_pack = MQBRIDGE_TEST_PACK;

class DamagedOpenMpi : public testing::Test {
protected:
  DamagedOpenMpi()
      : job(spec()), stopped(job.pid(0), x86_64(), amd64_pack),
        made(read_facts(job.directory() / "handles.0")) {}

  static e2e::JobSpec spec() {
    e2e::JobSpec spec;
    spec.program = "handles";
    return spec;
  }

  /// Everything that it says of what the program made, and of what it lists itself.
  void ask_all(ToldHandles& told) {
    for (const auto& [handle, facts] : made)
      told.tell(kind_of(handle), handle_of(handle));
    for (const char* kind : {"comm", "request", "errhandler"})
      for (const std::uint64_t handle : told.list(kind).handles)
        told.tell(kind, handle);
  }

  e2e::MpiJob job;
  StoppedRank stopped;
  HandleFacts made;
};

TEST_F(DamagedOpenMpi, NeitherCrashesNorHoldsTheDll) {
  constexpr std::uint64_t seeds = 40;
  const auto start = std::chrono::steady_clock::now();
  std::size_t known = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const AddressSpace space = stopped.space();
    GarbageWords memory(space.memory, seed, seed % 2 == 0 ? 40 : 400);
    ToldHandles told(MQBRIDGE_HANDLES_DLL, {space.images, memory, space.platform});
    if (told.process_code != MPIDBG_SUCCESS)
      continue;
    ++known;
    ask_all(told);
  }
  EXPECT_GT(known, seeds / 4);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
  test::faults_tried(seeds);
}

TEST_F(DamagedOpenMpi, WithoutTypesSaysNothing) {
  StoppedRank untyped(job.pid(0), x86_64(), "");
  const ToldHandles told(MQBRIDGE_HANDLES_DLL, untyped.space());
  EXPECT_EQ(told.image_code, MPIDBG_SUCCESS);
  EXPECT_EQ(told.process_code, MPIDBG_ERR_UNAVAILABLE);
}

TEST_F(DamagedOpenMpi, WithTheTypesOfAnotherBuildSaysNothing) {
  StoppedRank wrong(job.pid(0), x86_64(), MQBRIDGE_TEST_PACKS "/openmpi-4.1.4-i386.types");
  const ToldHandles told(MQBRIDGE_HANDLES_DLL, wrong.space());
  EXPECT_EQ(told.process_code, MPIDBG_ERR_UNAVAILABLE);
}

// That something is not there takes that one could look.
TEST_F(DamagedOpenMpi, WhatCannotBeReadIsNotTakenForNothing) {
  const AddressSpace space = stopped.space();
  const Facts unavailable = {{"error", {fmt::to_string(int(MPIDBG_ERR_UNAVAILABLE))}}};
  for (const auto& [handle, facts] : made) {
    if (facts.contains("gone") || facts.contains("ignore"))
      continue;
    HoledMemory memory(space.memory, handle_of(handle), 16); // the beginning of the object
    ToldHandles told(MQBRIDGE_HANDLES_DLL, {space.images, memory, space.platform});
    ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
    EXPECT_EQ(told.tell(kind_of(handle), handle_of(handle)), unavailable) << handle;
  }
}

TEST_F(DamagedOpenMpi, ListsWithAHoleAreNotWhole) {
  const AddressSpace space = stopped.space();
  for (const auto& [kind, symbol] : {std::pair{"comm", "ompi_mpi_communicators"},
                                     std::pair{"errhandler", "ompi_errhandler_f_to_c_table"}}) {
    HoledMemory memory(space.memory, space.images.find_symbol(symbol)->address.value, 200);
    ToldHandles told(MQBRIDGE_HANDLES_DLL, {space.images, memory, space.platform});
    EXPECT_EQ(told.list(kind).code, MPIDBG_ERR_UNAVAILABLE) << kind;
  }
}

/// One type less, or another one in its place.
class OtherType final : public TypeSource {
public:
  OtherType(std::string name, std::uint64_t larger) : name_(std::move(name)), larger_(larger) {}
  Result<const TypeLayout*> find(std::string_view name) override {
    auto found = pack_->find(name);
    if (name != name_ || !found || *found == nullptr)
      return found;
    changed_ = **found;
    changed_.size += larger_;
    return larger_ == 0 ? nullptr : &changed_;
  }

private:
  std::shared_ptr<TypeSource> pack_ = open_types_file(amd64_pack).value();
  std::string name_;
  std::uint64_t larger_;
  TypeLayout changed_;
};

TEST_F(DamagedOpenMpi, WhatATypeIsNeededForIsNotKnown) {
  const struct {
    const char* type;
    const char* kind;
    const char* key; ///< what it is needed for
  } needs[] = {{"mca_topo_base_comm_cart_2_2_0_t", "comm", "dims"},
               {"opal_hash_table_t", "comm", "attribute"},
               {"ompi_group_t", "comm", "group"},
               {"mca_pml_base_request_t", "request", "tag"},
               {"ompi_datatype_t", "request", "datatype"},
               {"ompi_errhandler_t", "errhandler", "name"},
               {"ompi_win_t", "errhandler", "attached"},
               {"ompi_win_t", "errhandler", "freed"},
               {"ompi_request_t", "request", "state"}};
  for (const auto& [type, kind, key] : needs)
    for (const std::uint64_t larger : {0U, 8U}) {
      StoppedRank other(job.pid(0), x86_64(), "");
      other.space().images.add_type_source(std::make_shared<OtherType>(type, larger));
      ToldHandles told(MQBRIDGE_HANDLES_DLL, other.space());
      ASSERT_EQ(told.process_code, MPIDBG_SUCCESS) << type;
      for (const auto& [handle, facts] : made) {
        if (kind_of(handle) == kind && facts.contains(key)) {
          EXPECT_THAT(told.tell(kind, handle_of(handle)), Not(Contains(Key(key))))
              << type << " " << larger << " " << handle;
        }
      }
    }
}

} // namespace
} // namespace mqbridge
