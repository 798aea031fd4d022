#pragma once

#include "tests/support/temp_directory.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace mqbridge::test {

/// A program in the place of mqbridge, which prints what a test wants as its document.
class PlayedProgram {
public:
  /// `script`: of sh; "$@" are the words of a look.
  void play(const std::string& script) const {
    const auto made = directory_ / "made";
    std::ofstream(made) << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(made, std::filesystem::perms::owner_all);
    std::filesystem::rename(made, path()); // one that runs keeps its own
  }
  std::string path() const { return (directory_ / "program").string(); }

private:
  TempDirectory directory_;
};

inline const std::string header_line =
    R"({"type":"header","schema":"mqbridge.dump/1","taken_at":"2026-11-30T09:58:21.333Z"})";

/// As `dump --format ndjson` writes it.
inline std::string rank_line(int rank, int pid) {
  const auto number = std::to_string(rank);
  return R"({"type":"rank","rank":)" + number + R"(,"endpoint":"local:)" + std::to_string(pid) +
         R"(","host":"vm","pid":)" + std::to_string(pid) + R"(,"world_rank":)" + number +
         R"(,"job_id":"77"})";
}

/// `analysis`: JSON.
inline std::string summary_line(const std::string& analysis) {
  return R"({"type":"summary","job":{"size":2,"source":"mpirun","skew_ms":1.5,"stalled_ms":20.25},)"
         R"("ranks":{"total":2,"ok":2,"partial":0,"failed":0},"analysis":)" +
         analysis + R"(,"errors":[]})";
}

inline const std::string deadlock =
    R"({"verdict":"deadlock","confidence":"certain","core_ranks":[0,1],"look_at":["rank 0: MPI_Recv"],)"
    R"("looks":2,"unchanged_ms":2000})";

/// The script of a look that sees two ranks and ends with `analysis`.
inline std::string prints_look(const std::string& analysis, int pid = 100) {
  return "cat <<'E'\n" + header_line + "\n" + rank_line(0, pid) + "\n" + rank_line(1, pid + 1) +
         "\n" + summary_line(analysis) + "\nE";
}

} // namespace mqbridge::test
