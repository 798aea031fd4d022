#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace mqbridge {

/// Bytes that this program may still take: what the machine has free, its control group and its own
/// limits allow. All of the address space where nothing tells.
std::uint64_t memory_left();

/// The same of one control group of the unified hierarchy, by its directory.
std::uint64_t memory_left_in_group(const std::filesystem::path& group);

/// The memory that all ranks of a run may take for what they find. Half of it is shared out
/// beforehand, so that a rank whose debug DLL never stops listing takes nothing from the others;
/// the other half is for whoever needs more. Any thread.
class RunBudget {
public:
  /// However little is said to be free: what an honest rank lists fits in there.
  static constexpr std::uint64_t least_share = std::uint64_t{64} << 20;

  RunBudget(std::uint64_t bytes, std::size_t ranks);

  /// What each rank has for itself.
  std::uint64_t share() const { return share_; }
  /// False: so much is not left beyond the shares.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { common_ += bytes; }

private:
  std::uint64_t share_;
  std::atomic<std::uint64_t> common_;
};

/// The memory that one rank may take for what is found in it. One thread at a time.
class RankBudget {
public:
  enum class Verdict : std::uint8_t { granted, rank_full, run_full };

  /// `run` outlives this; null: there is no other rank.
  RankBudget(std::uint64_t bytes, RunBudget* run);

  Verdict take(std::uint64_t bytes);
  /// What was found is gone: it is looked for anew.
  void give_back();

private:
  std::uint64_t most_;
  RunBudget* run_;
  std::uint64_t taken_ = 0;
  std::uint64_t of_run_ = 0; ///< beyond the share
};

} // namespace mqbridge
