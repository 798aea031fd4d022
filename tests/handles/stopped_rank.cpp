#include "tests/handles/stopped_rank.h"

#include "host/types/types_file.h"

#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {

StoppedRank::StoppedRank(pid_t pid, const Platform& platform, const std::string& pack)
    : pid_(pid), memory_(pid), platform_(platform), images_(images_of_process(pid).value()) {
  ::kill(pid, SIGSTOP);
  if (!pack.empty())
    images_.add_type_source(open_types_file(pack).value());
}

StoppedRank::~StoppedRank() {
  ::kill(pid_, SIGCONT);
}

Platform x86_64() {
  Platform platform;
  platform.architecture = "x86_64";
  return platform;
}

Platform i386() {
  Platform platform;
  platform.architecture = "i386";
  platform.set_data_model(DataModel::ilp32);
  platform.int64_alignment = 4;
  return platform;
}

std::uint64_t handle_of(const std::string& handle) {
  return std::stoull(handle.substr(handle.find(' ')), nullptr, 16);
}

std::string kind_of(const std::string& handle) {
  return handle.substr(0, handle.find(' '));
}

void expect_told(ToldHandles& told, const HandleFacts& made, Told how_much) {
  for (const auto& [handle, facts] : made) {
    const Facts said = told.tell(kind_of(handle), handle_of(handle));
    for (const auto& [key, values] : facts) {
      if (how_much == Told::nothing_wrong && !said.contains(key))
        continue;
      ASSERT_THAT(said, testing::Contains(testing::Key(key))) << handle;
      EXPECT_THAT(said.at(key), testing::Eq(values)) << handle << " " << key;
    }
    if (facts.contains("fortran")) {
      EXPECT_EQ(told.from_fortran(kind_of(handle), std::stoull(*facts.at("fortran").begin())),
                handle_of(handle))
          << handle;
    }
  }
}

void expect_told(const e2e::JobSpec& spec, const std::string& dll, const Platform& platform,
                 const std::string& pack, Told how_much) {
  const e2e::MpiJob job(spec);
  for (int rank = 0; rank < job.ranks(); ++rank) {
    StoppedRank stopped(job.pid(rank), platform, pack);
    ToldHandles told(dll, stopped.space());
    ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
    const auto made = read_facts(job.directory() / fmt::format("handles.{}", rank));
    ASSERT_THAT(made, testing::Not(testing::IsEmpty()));
    SCOPED_TRACE(fmt::format("rank {}", rank));
    expect_told(told, made, how_much);
  }
}

} // namespace mqbridge
