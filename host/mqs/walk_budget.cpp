#include "host/mqs/walk_budget.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>

namespace mqbridge {
namespace {

constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
/// Ranks take from the run in pieces of so many bytes.
constexpr std::uint64_t piece = std::uint64_t{1} << 20;

/// The number behind `name`, or at the start of the file if `name` is empty. nullopt: "max", or
/// there is none.
std::optional<std::uint64_t> number_in(const std::filesystem::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name))
      continue;
    const auto first = line.find_first_not_of(" \t", name.size());
    std::uint64_t value = 0;
    if (first == std::string::npos ||
        std::from_chars(line.data() + first, line.data() + line.size(), value).ec != std::errc())
      return std::nullopt;
    return value;
  }
  return std::nullopt;
}

std::uint64_t less(std::uint64_t limit, std::uint64_t used) {
  return limit - std::min(limit, used);
}

std::uint64_t left_on_the_machine() {
  constexpr std::uint64_t kibi = 1024;
  const auto available = number_in("/proc/meminfo", "MemAvailable:");
  return available ? *available * kibi : all;
}

/// Memory that the kernel takes back from a group before it ends one of its processes: the kernel's
/// objects, and the page cache, which reading files can fill up to the group's limit.
std::uint64_t reclaimable_in(const std::filesystem::path& group) {
  std::uint64_t bytes = 0;
  for (const std::string_view name : {"inactive_file ", "active_file ", "slab_reclaimable "})
    bytes += number_in(group / "memory.stat", name).value_or(0);
  return bytes;
}

/// Memory that the groups of the unified hierarchy leave: every group from this one up may have a
/// limit.
std::uint64_t left_in_the_control_groups() {
  std::ifstream in("/proc/self/cgroup");
  std::uint64_t least = all;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("0::/"))
      continue;
    std::filesystem::path group = line.substr(3);
    for (;; group = group.parent_path()) {
      least = std::min(least, memory_left_in_group(std::filesystem::path("/sys/fs/cgroup") /
                                                   group.relative_path()));
      if (group == group.root_path())
        break;
    }
  }
  return least;
}

std::uint64_t left_in_the_address_space() {
  constexpr std::uint64_t kibi = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return all;
  return less(limit.rlim_cur, number_in("/proc/self/status", "VmSize:").value_or(0) * kibi);
}

} // namespace

std::uint64_t memory_left_in_group(const std::filesystem::path& group) {
  const auto limit = number_in(group / "memory.max", "");
  if (!limit)
    return all;
  return less(*limit,
              less(number_in(group / "memory.current", "").value_or(0), reclaimable_in(group)));
}

std::uint64_t memory_left() {
  return std::min(
      {left_on_the_machine(), left_in_the_control_groups(), left_in_the_address_space()});
}

RunBudget::RunBudget(std::uint64_t bytes, std::size_t ranks)
    : share_(std::max(bytes / 2 / std::max<std::size_t>(ranks, 1), least_share)),
      common_(bytes / 2) {}

bool RunBudget::take(std::uint64_t bytes) {
  auto left = common_.load();
  while (left >= bytes)
    if (common_.compare_exchange_weak(left, left - bytes))
      return true;
  return false;
}

RankBudget::RankBudget(std::uint64_t bytes, RunBudget* run) : most_(bytes), run_(run) {}

RankBudget::Verdict RankBudget::take(std::uint64_t bytes) {
  if (bytes > most_ - taken_)
    return Verdict::rank_full;
  const auto granted = run_ != nullptr ? run_->share() + of_run_ : most_;
  if (taken_ + bytes > granted) {
    const auto more = std::max(taken_ + bytes - granted, piece);
    if (!run_->take(more))
      return Verdict::run_full;
    of_run_ += more;
  }
  taken_ += bytes;
  return Verdict::granted;
}

void RankBudget::give_back() {
  if (run_ != nullptr)
    run_->give_back(of_run_);
  of_run_ = taken_ = 0;
}

} // namespace mqbridge
