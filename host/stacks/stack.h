#pragma once

#include "host/memory/address.h"
#include "host/process/call_sites.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

// The call stacks of one process, as docs/reference/dump.schema.json has them. nullopt means not
// known.

/// Why a list of frames ends.
enum class StackEnd : std::uint8_t {
  outermost,  ///< where the thread began
  no_cfi,     ///< nothing says how the caller of that code is found
  unreadable, ///< memory that the process does not have, or registers that the stub did not give
  cut,        ///< the stack goes on where it was not captured
  limit,      ///< as many frames as are shown, or as much time or memory as is spent
  repeats,    ///< the caller would be a frame that was there before
};

/// One call. Innermost first; an inlined function stands before the one that it was inlined into,
/// with the same address.
struct StackFrame {
  TargetAddress address; ///< where it goes on; of all but the innermost a return address
  std::optional<std::string> function = {}; ///< demangled, without its parameters
  /// Of `address` in the function, bytes. Without a function: in the module, as its file counts.
  std::optional<std::int64_t> offset = {};
  std::optional<std::string> file = {};   ///< as the compiler wrote it
  std::optional<std::int64_t> line = {};  ///< from 1
  std::optional<std::string> module = {}; ///< the loaded object's path, as the target names it
  bool inlined = false;
};

struct ThreadStack {
  std::int64_t thread = 0;
  std::optional<std::string> name = {};
  bool helper = false; ///< a thread of the MPI or its run-time system
  StackEnd end = StackEnd::outermost;
  std::vector<StackFrame> frames = {}; ///< innermost first
};

/// What one thread is in.
struct BlockedCall {
  std::int64_t thread = 0;
  std::optional<std::string> call = {}; ///< outermost MPI function, "MPI_Recv"; nullopt: outside
  std::optional<TargetAddress> communicator = {}; ///< Communicator::id
  std::optional<std::string> file = {}; ///< of the caller outside of the MPI; without MPI as well
  std::optional<std::int64_t> line = {};
  /// Of a pending operation that stands in registers or stack between the call and its caller.
  std::optional<TargetAddress> request = {};
  std::optional<bool> request_unique = {}; ///< no other one stands there
  /// Outside of the MPI the program's innermost one; inside, that of the caller.
  std::optional<std::string> function = {};
  std::optional<std::string> system_call = {}; ///< outside of the MPI: "poll", "futex"
  /// Of a collective: the root's rank in the communicator, and which one it is there, counted from
  /// the communicator's first one. Only an MPI's recorder knows them.
  std::optional<std::int64_t> root = {};
  std::optional<std::int64_t> sequence = {};
  /// Waited::group of all that it waits for; 0: of nothing that is in a list. Only a recorder
  /// knows.
  std::optional<std::uint32_t> group = {};
  /// What a recorder says of the caller, until it is named in `function`, `file` and `line`.
  SharedSite site = {};
};

} // namespace mqbridge
