#pragma once

#include "host/mqs/queues.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mqbridge {

using Names = std::span<const std::string_view>;

/// How to recognise an MPI in a process, also in stripped builds.
struct SymbolFacts {
  Names of_each_process = {};    ///< each process that uses the MPI has one of them
  std::string_view version = {}; ///< a char array in the process; may be empty
  /// Symbols at which every dump reads (mqbridge itself, the debug DLL, the repairs): their pages
  /// come in one burst (mpi_roots.h).
  Names roots = {};
};

/// The names of an MPI's libraries. A whole name is the part in front of ".so": "libmpi" is
/// libmpi.so.40. A name that ends with an underscore goes on: "libmpi_gnu_" is libmpi_gnu_91.so.12.
struct LibraryFacts {
  Names beginnings = {};  ///< of the names of libraries whose symbols and types are asked for
  Names of_programs = {}; ///< a program that needs one of these uses this MPI
  Names inner = {};       ///< further libraries whose functions on a stack are the MPI's
  Names transports = {};  ///< beginnings: others whose symbols or code tell what a message is
  /// The number behind ".so." that tells the MPI's library from another MPI's library of the same
  /// name. Empty: every number that no other MPI has here.
  std::string_view number = {};
};

/// How to recognise a thread that the MPI started for itself: by the function in which it began.
struct HelperFacts {
  Names library_beginnings = {}; ///< of libraries' names, in addition to LibraryFacts
  Names functions = {};          ///< names that no program has for functions of its own
};

/// An inner function to which an MPI function jumps as its last action: the MPI function itself is
/// then on no stack, and the inner one stands for it.
struct LastDeed {
  std::string_view function; ///< "ompi_mpi_finalize"
  std::string_view call;     ///< "MPI_Finalize"
};

/// The layer that handles messages, and the transports that call it for each message that comes:
/// how the names of their libraries and functions begin. Empty: not known.
struct MessageLayers {
  std::string_view messages = {};
  std::string_view transports = {};
};

/// The names of an MPI's launcher, and what the launcher tells the processes that it starts.
struct LauncherFacts {
  Names fronts = {};  ///< started by users; no other MPI uses these names
  Names daemons = {}; ///< started by a front on each node
  /// The daemon whose command line names the job (MpiSupport::name_job), if the environment of the
  /// ranks does not. Empty: none.
  std::string_view naming_daemon = {};
  Names table_libraries = {};          ///< beginnings: libraries that may have MPIR_proctable
  std::string_view rank_variable = {}; ///< of a rank; PMI_RANK and others are known anyway
  std::string_view size_variable = {};
  /// The command that starts a job with a preloaded library; "{}" stands for its path.
  std::string_view preloading_line = "LD_PRELOAD={} mpiexec ...";
};

/// Something that a debug DLL never shows, for `mqbridge doctor`.
struct DllLimit {
  std::string_view subject; ///< "unexpected", "inside"
  std::string_view text;
  /// How add_unshown() finds it all the same, in words that "from ob1" may follow; empty: it does
  /// not.
  std::string_view instead = {};
  bool read_without = false; ///< it is no limit where mqbridge reads the queues without the DLL
};

/// A report's words for a queue that was read to its end.
struct QueueWords {
  /// For a queue without operations of the program. It does not say "empty": a debug DLL does not
  /// list everything that its MPI waits for.
  std::string_view empty = "none that the debug DLL lists";
  std::string_view never_listed = {}; ///< operations of this class that the DLL never lists
  bool read_without = false;          ///< where mqbridge reads the queues itself, it lists them
};

/// An MPI's own debug DLL for queues.
struct DllFacts {
  /// How to install the DLL. Empty: not known.
  std::string_view install_hint = {};
  Names directories = {};                ///< of distributions, below /usr/lib and its like
  std::span<const DllLimit> limits = {}; ///< they hold whatever the process does
  std::array<QueueWords, op_classes.size()> words = {}; ///< by OpClass
  bool lists_all = false;                               ///< an empty queue is empty
  bool needs_types = true;                              ///< the DLL asks for types
  /// Without its debug DLL, mqbridge finds all that the DLL would list: list_communicators().
  bool can_do_without = false;
  bool needs_types_without = true; ///< and it asks for types then
  /// mqs_image_has_queues leaves the text of a refusal even if it succeeds.
  bool refuses_in_success = false;
  /// The DLL translates ranks wrongly or not at all: peers are only known after repair().
  bool ranks_need_repair = false;
  /// The DLL's statuses are often wrong: without repair() they are worthless.
  bool statuses_need_repair = false;
  bool handles_are_read = false; ///< mqbridge's own DLL for handles knows this MPI (dll/handles)

  /// Operations of this class that are not listed, by the DLL (`walked`) or by mqbridge without it.
  std::string_view never_listed(OpClass op_class, bool walked) const {
    const QueueWords& own = words[static_cast<std::size_t>(op_class)];
    return walked || !own.read_without ? own.never_listed : std::string_view();
  }
};

/// Type carriers and packs (type_carrier.h).
struct CarrierFacts {
  bool can_be_made = false;
  /// A warning: what is missing from a file that was made without the MPI's source.
  std::string_view without_source = {};
};

/// What arguments of calls stand for, in C as in Fortran.
struct ArgumentFacts {
  std::optional<std::int64_t> any_source = {};
  std::optional<std::int64_t> proc_null = {};
  std::optional<std::int64_t> any_tag = {};
  std::uint32_t world = 0; ///< MPI_COMM_WORLD, where handles are numbers. 0: not known
  std::uint32_t self = 0;  ///< MPI_COMM_SELF
  /// The highest byte of the handles of predefined datatypes, whose size stands in the second
  /// lowest byte. 0: not known.
  std::uint32_t datatype = 0;
};

/// The facts about one MPI that are known without looking at a process. They stand in the MPI's own
/// folder; the defaults are those of an unknown MPI.
struct MpiFacts {
  std::string_view provider = "other"; ///< MpiLibrary::provider
  std::string_view name = "MPI";       ///< "Open MPI"
  Names other_names = {}; ///< that read_release() may return: of MPIs that are made of this one
  /// This is no MPI, but a recorder: it keeps the calls of the MPI that is loaded beside it.
  bool is_recorder = false;
  SymbolFacts symbols = {};
  LibraryFacts libraries = {};
  HelperFacts helpers = {};
  std::span<const LastDeed> last_deeds = {}; ///< of the MPI functions that wait
  MessageLayers layers = {};
  /// The functions that move whatever messages there are. Calls wait by calling one of them; what
  /// stands inside of it is of any operation. Empty: not known.
  Names progress = {};
  LauncherFacts launcher = {};
  DllFacts dll = {};
  CarrierFacts carriers = {};
  /// MpiSupport::is_world() uses more than the name: it finds exactly one communicator, even if the
  /// program has renamed it.
  bool world_is_certain = false;
  /// The library does not tell that it is in MPI_Finalize: a missing MPI_COMM_WORLD shows it.
  bool finalizes_unseen = false;
  /// Control variables that have another value in each process, whatever the user sets.
  Names own_variables = {};
  /// Control variables that live in a function that has returned: neither their memory nor MPI_T
  /// tells their value.
  Names lost_variables = {};
  /// The functions in which an exchange (MPI_Sendrecv) waits for its send, once it has begun its
  /// receive. Outside of them it waits for its receive alone. Empty: not known.
  Names sending = {};
  ArgumentFacts arguments = {};
  /// In the name that the MPI gives to a duplicate of a communicator: what stands before the
  /// context id of the one that was duplicated. Empty: not known.
  std::string_view duplicate = {};
  /// A wait that ends changes variables of the library, which counts them. MPIs that are made of
  /// this one (`other_names`) may do it elsewhere.
  bool counts_waits = false;
};

} // namespace mqbridge
