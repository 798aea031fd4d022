#pragma once

#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// One call that an instruction is in.
struct NamedCall {
  std::optional<std::string> function = {};
  std::optional<std::uint64_t> begins_at = {}; ///< the function; address in its file
  std::optional<std::string> file = {};
  std::optional<std::int64_t> line = {};
  bool inlined = false;
};

/// Bytes, with its texts.
std::size_t size_of(const NamedCall& call);

/// Names of instructions that unwinders have read, for the other processes that have the same
/// files: ranks of one program stand in the same places, and DWARF takes ten times as long to read
/// as a stack to unwind. Thread-safe.
class FrameNames {
public:
  /// The identities of the files that they were read from, and an address in them.
  using Place = std::pair<std::string, std::uint64_t>;
  /// The innermost first, then those that it was inlined into.
  using Calls = std::vector<NamedCall>;

  std::optional<Calls> find(const Place& place) const;
  /// Beyond some ten megabytes nothing is kept.
  void add(const Place& place, const Calls& calls);

  /// Held by who reads names: then the others find them, and do not all read the same. Errors:
  /// those of work_over().
  Result<std::unique_lock<std::timed_mutex>> lock_reading();

private:
  mutable std::mutex mutex_;
  std::timed_mutex reading_;
  std::map<Place, Calls> known_;
  std::size_t bytes_ = 0;
};

} // namespace mqbridge
