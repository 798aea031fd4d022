#pragma once

#include "host/memory/platform.h"
#include "host/mpi/mpi_library.h"
#include "host/mpi/queue_extent.h"
#include "host/mpi/unshown.h"
#include "host/mpi/variables.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "host/process/image_set.h"
#include "host/process/library_names.h"
#include "host/process/process_source.h"
#include "rsp/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// What carries a process's messages.
struct Transport {
  std::optional<std::string> name; ///< "ob1", "ch3:nemesis"; nullopt: not known, or has no name
  bool bypasses_dll = false;       ///< it keeps queues of its own, which the debug DLL never sees
  std::optional<Error> warning;    ///< transport.*: what may be missing from the queues
};

/// Whether the types that are known are those of the running library.
struct TypesCheck {
  bool fit = true;
  std::vector<std::string> missing;    ///< types, or "type.field", that nobody knows
  std::vector<std::string> mismatches; ///< where what is known and what the library states differ
  int compared = 0;                    ///< sizes that the library states and that were compared
};

/// By what an MPI is recognised, in its stripped builds, too.
struct MpiIdentity {
  std::string_view provider;                        ///< MpiLibrary::provider
  std::string_view name;                            ///< "Open MPI"
  std::string_view version_symbol = {};             ///< a char array in the process; may be empty
  std::span<const std::string_view> symbols = {};   ///< each process that uses it has one of them
  std::span<const std::string_view> libraries = {}; ///< how the names of its libraries begin
};

/// Something that a debug DLL never shows, for `mqbridge doctor`.
struct DllLimit {
  std::string_view subject; ///< "unexpected", "inside"
  std::string_view text;
  std::string_view instead = {}; ///< how add_unshown() brings it all the same; empty: it does not
};

/// An inner function to which an MPI function jumps as its last deed: then it stands on no stack,
/// and the inner one stands for it.
struct LastDeed {
  std::string_view function; ///< "ompi_mpi_finalize"
  std::string_view call;     ///< "MPI_Finalize"
};

/// Bytes in the target that are soon asked for.
struct RootWord {
  TargetAddress address;
  std::uint64_t size = 0;
};

/// What is to be known of one MPI and of its debug DLL beside the interface: one object for each
/// known MPI (known_mpis()), and here what holds for an MPI that nothing is known of.
/// Stateless; any thread. Errors of all that read: those of Memory and of find_type.
class MpiSupport {
public:
  virtual ~MpiSupport() = default;

  virtual MpiIdentity identity() const;
  /// It is no MPI: it keeps the calls of the one that is loaded beside it, whichever that is.
  virtual bool is_recorder() const { return false; }
  /// Of a recorder: what the MPI beside it calls itself. Empty: not known.
  virtual Result<std::string> read_mpi_name(const AddressSpace& space) const;
  /// Symbols at which every dump reads: mqbridge itself, the debug DLL, the repairs. So that their
  /// pages come in one burst (mpi_roots.h).
  virtual std::span<const std::string_view> root_symbols() const { return {}; }
  /// The launcher's name of its job, where the process's memory has it and its environment has not.
  /// Empty: not known.
  virtual Result<std::string> read_job(const AddressSpace& space) const;
  /// What is read of this image besides, by its file alone: nothing of the process is read.
  virtual std::vector<RootWord> root_words(const Image&) const { return {}; }

  /// Where the process stands between MPI_Init and MPI_Finalize, as its MPI library keeps it.
  virtual Result<MpiState> read_state(const AddressSpace& space) const;

  /// Whether the debug DLL asks for types at all.
  virtual bool needs_types() const { return true; }
  /// Are the types that the DLL and the repairs need known to `find`, and do they agree with what
  /// the running library states of itself?
  virtual Result<TypesCheck> check_types(const TypeFinder& find, const AddressSpace& space) const;
  /// The line that brings the missing types.
  virtual std::string types_hint(const MpiLibrary& mpi, const Platform& platform) const;

  virtual Result<Transport> read_transport(const AddressSpace& space) const;

  /// How doctor words a transport that read_transport() named and whose queues the DLL sees. Empty:
  /// it says nothing.
  virtual std::string describe_transport(const std::string&) const { return {}; }

  /// Of MPI functions that wait.
  virtual std::span<const LastDeed> last_deeds() const { return {}; }

  /// What its debug DLL never shows, whatever the process does.
  virtual std::span<const DllLimit> dll_limits() const { return {}; }

  /// How much the DLL will look at; nullopt: nothing tells.
  virtual Result<std::optional<QueueExtent>> queue_extent(const AddressSpace& space) const;

  /// mqs_image_has_queues leaves the text of a refusal although it succeeds.
  virtual bool refuses_in_success() const { return false; }
  /// The DLL translates ranks wrongly, or not: peers are only known after repair().
  virtual bool ranks_need_repair() const { return false; }
  /// The DLL's statuses are wrong as often as right: without repair() they say nothing.
  virtual bool statuses_need_repair() const { return false; }
  /// Is it the one with all processes, whatever the program calls it? (By name where only that
  /// tells it.) After repair().
  virtual bool is_world(const Communicator& communicator) const;
  /// is_world() knows it by more than its name: there is exactly one, and no program renames it.
  virtual bool world_is_certain() const { return false; }
  /// A process in this state may have no MPI_COMM_WORLD, only communicators of a session.
  virtual bool may_lack_world(const ImageSet&, MpiState) const { return false; }
  /// The library does not say that it is in MPI_Finalize: that shows by a missing MPI_COMM_WORLD.
  virtual bool finalizes_unseen() const { return false; }

  /// What MPI_Query_thread answers there.
  virtual Result<ThreadLevel> read_thread_level(const AddressSpace& space) const;

  /// Adds to what repair() left what the MPI's own memory says beside it. Where that fails the
  /// communicators are as true as before.
  virtual Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                             const UnshownRequest& request,
                                             const AddressSpace& space) const;

  /// The variables of MPI_T: of a recorder what MPI_T said inside of the process, of an MPI what
  /// its own tables say of it. nullopt: nothing is known of where they are. What makes them less
  /// than all goes into `warnings`. Errors: variables.*, those of Memory and of find_type.
  virtual Result<std::optional<ProcessVariables>> read_variables(const AddressSpace& space,
                                                                 Warnings& warnings) const;

  /// Control variables of which each process has its own value, whatever the user sets.
  virtual std::span<const std::string_view> own_variables() const { return {}; }

  /// repairs.h, for this provider's DLL.
  virtual Result<void> repair(std::vector<Communicator>& communicators,
                              const AddressSpace& space) const;
};

/// One object for each MPI that is known, in the order in which a process is compared with them.
/// known_mpis.cpp has the list: another MPI is a folder and an entry there.
std::span<const MpiSupport* const> known_mpis();
/// The libraries of all of them.
LibraryNames mpi_libraries();

/// The one of this MpiIdentity::provider; for any other what holds for an MPI that nothing is known
/// of.
const MpiSupport& support_of(std::string_view provider);
/// The same by MpiIdentity::name, as a report has it.
const MpiSupport& support_named(std::string_view name);

} // namespace mqbridge
