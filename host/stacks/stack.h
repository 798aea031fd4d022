#pragma once

#include "host/memory/address.h"
#include "host/process/call_sites.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// The call stacks of one process, as docs/reference/dump.schema.json has them. nullopt means not
// known.

/// Why a list of frames ends.
enum class StackEnd : std::uint8_t {
  outermost,  ///< where the thread began
  no_cfi,     ///< nothing says how the caller of that code is found
  unreadable, ///< memory that cannot be read, or registers that the stub did not give
  cut,        ///< the stack goes on where it was not captured
  limit,      ///< more frames than are shown, or more time or memory than is spent
  repeats,    ///< the caller would be a frame that was there before
};

/// Of a function that is not compiled: which language's interpreter runs it.
enum class FrameLanguage : std::uint8_t { python };

/// One call. Innermost first; an inlined function stands before the function into which it was
/// inlined, with the same address.
struct StackFrame {
  TargetAddress
      address; ///< where the frame goes on; in all frames but the innermost a return address
  std::optional<std::string> function = {}; ///< demangled, without its parameters
  /// Bytes from the function's beginning to `address`. Without a function: the address in the
  /// module's file.
  std::optional<std::int64_t> offset = {};
  std::optional<std::string> file = {};   ///< as the compiler wrote it
  std::optional<std::int64_t> line = {};  ///< from 1
  std::optional<std::string> module = {}; ///< the loaded object's path, as the target names it
  bool inlined = false;
  /// Its function stands before the interpreter's, which runs it, as if inlined into that one. Its
  /// name may be that of any function in C.
  std::optional<FrameLanguage> language = {};

  /// Its name; empty where there is none, or where it is none of a function in C, which may be
  /// known by it.
  std::string_view c_function() const {
    return function && !language ? std::string_view(*function) : std::string_view();
  }
};

struct ThreadStack {
  std::int64_t thread = 0;
  std::optional<std::string> name = {};
  bool helper = false; ///< a thread of the MPI or its run-time system
  StackEnd end = StackEnd::outermost;
  std::vector<StackFrame> frames = {}; ///< innermost first
};

/// The arguments of a call of MPI, where debug information tells them and no queue was read. Of an
/// exchange `peer` and `tag` are those of its receive.
struct CallArguments {
  std::optional<std::int64_t> peer = {}; ///< rank in the communicator; -2: MPI_PROC_NULL
  bool any_source = false;               ///< then `peer` is not known
  std::optional<std::int64_t> tag = {};
  bool any_tag = false;
  std::optional<std::int64_t> send_to = {}; ///< of an exchange
  std::optional<std::int64_t> send_tag = {};
  std::optional<std::int64_t> root = {};  ///< rank in the communicator
  std::optional<std::int64_t> bytes = {}; ///< that the call moves at most, from or to each rank
  std::optional<std::string> communicator = {}; ///< "MPI_COMM_WORLD"; or its handle, "0x84000001"
  bool operator==(const CallArguments&) const = default;
};

/// The call in which a thread is.
struct BlockedCall {
  std::int64_t thread = 0;
  std::optional<std::string> call = {}; ///< outermost MPI function, "MPI_Recv"; nullopt: outside
  std::optional<TargetAddress> communicator = {}; ///< Communicator::id
  std::optional<std::string> file = {}; ///< of the caller outside of the MPI; without MPI as well
  std::optional<std::int64_t> line = {};
  /// A pending operation whose address is in registers or on the stack between the call and its
  /// caller.
  std::optional<TargetAddress> request = {};
  /// Whether the call waits for no other one. Without a request: several stand there (false), or
  /// none (nullopt).
  std::optional<bool> request_unique = {};
  /// Outside of the MPI the program's innermost function; inside, the caller's.
  std::optional<std::string> function = {};
  std::optional<std::string> system_call = {}; ///< outside of the MPI: "poll", "futex"
  /// For a collective: the root's rank in the communicator, and the number of collectives before it
  /// on the communicator. Only a recorder knows them.
  std::optional<std::int64_t> root = {};
  std::optional<std::int64_t> sequence = {};
  /// Waited::group of all operations that it waits for; 0: it waits for none that is in a list.
  /// Only a recorder knows it.
  std::optional<std::uint32_t> group = {};
  std::optional<CallArguments> arguments = {};
  /// Of a call that blocks: another number once the program has gone on.
  std::optional<std::int64_t> program_state = {};
  /// The recorder's address of the caller, until `function`, `file` and `line` name it.
  SharedSite site = {};
};

} // namespace mqbridge
