#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace mqbridge {

/// Bytes that this program may still take, by the machine's free memory, its control group and its
/// own limits. The whole address space if none of these is known.
std::uint64_t memory_left();

/// The same for one control group of the unified hierarchy, named by its directory.
std::uint64_t memory_left_in_group(const std::filesystem::path& group);

/// The memory that all ranks of a run may take for their results. Half of it is shared out
/// beforehand, so that a rank whose debug DLL never stops listing takes nothing from the others.
/// The other half is for ranks that need more. Any thread.
class RunBudget {
public:
  /// The least share, however little memory seems free: the results of an honest rank fit in there.
  static constexpr std::uint64_t least_share = std::uint64_t{64} << 20;

  RunBudget(std::uint64_t bytes, std::size_t ranks);

  /// The part that each rank has for itself.
  std::uint64_t share() const { return share_; }
  /// Takes bytes from the common half; false: so much is not left.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { common_ += bytes; }

private:
  std::uint64_t share_;
  std::atomic<std::uint64_t> common_;
};

/// The memory that one rank may take for its results. One thread at a time.
class RankBudget {
public:
  enum class Verdict : std::uint8_t { granted, rank_full, run_full };

  /// `run` outlives this; null: there is no other rank.
  RankBudget(std::uint64_t bytes, RunBudget* run);

  Verdict take(std::uint64_t bytes);
  /// The rank's results are dropped, since it is walked anew.
  void give_back();

private:
  std::uint64_t most_;
  RunBudget* run_;
  std::uint64_t taken_ = 0;
  std::uint64_t of_run_ = 0; ///< taken from the run, beyond the share
};

} // namespace mqbridge
