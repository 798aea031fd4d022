#pragma once

#include "host/stacks/unwinder_wire.h"
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

/// Bytes, with its texts.
std::size_t size_of(const NamedCall& call);

/// Names of instructions that unwinders have read, kept for other processes with the same files:
/// ranks of one program stand in the same places, and reading names from DWARF takes ten times as
/// long as unwinding. Thread-safe.
class FrameNames {
public:
  /// The identities of the files with the names, and an address in them.
  using Place = std::pair<std::string, std::uint64_t>;
  /// The innermost first, then the functions into which it was inlined.
  using Calls = std::vector<NamedCall>;

  std::optional<Calls> find(const Place& place) const;
  /// Once some ten megabytes are kept, it drops further names.
  void add(const Place& place, const Calls& calls);

  /// Held by a thread that reads names, so that other threads find them and do not read the same.
  /// Errors: those of work_over().
  Result<std::unique_lock<std::timed_mutex>> lock_reading();

private:
  mutable std::mutex mutex_;
  std::timed_mutex reading_;
  std::map<Place, Calls> known_;
  std::size_t bytes_ = 0;
};

} // namespace mqbridge
