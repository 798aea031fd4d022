#pragma once

#include "host/disk/spawn.h"
#include "host/memory/platform.h"
#include "host/mpi/mpi_facts.h"
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
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The transport of a process's messages.
struct Transport {
  std::optional<std::string> name; ///< "ob1", "ch3:nemesis"; nullopt: not known, or has no name
  bool bypasses_dll = false;       ///< it keeps queues of its own, which the debug DLL never sees
  std::optional<Error> warning;    ///< transport.*: what may be missing from the queues
};

/// What an MPI calls itself.
struct MpiRelease {
  std::string name;                   ///< "MVAPICH"
  std::optional<std::string> version; ///< nullopt: not known
};

/// Whether the known types are those of the running library.
struct TypesCheck {
  bool fit = true;
  std::vector<std::string> missing;    ///< types, or "type.field", that nobody knows
  std::vector<std::string> mismatches; ///< places where known and stated values differ
  int compared = 0;                    ///< sizes that the library states and that were compared
};

/// Bytes of the target that will soon be needed.
struct RootWord {
  TargetAddress address;
  std::uint64_t size = 0;
};

/// The facts in a command line with which a launcher starts its daemon on another node.
struct DaemonCommand {
  std::string jobs;        ///< how the names of the launcher's jobs begin: "prterun-n17-4711@"
  std::size_t daemons = 0; ///< that the launcher has on all nodes, itself among them
};

struct CarrierRequest;
struct CarrierTypes;
struct TypesFileCheck;

/// The knowledge about one MPI and its debug DLL that the interface does not give: facts() needs no
/// process, the functions look into one. There is one object for each known MPI (known_mpis());
/// this class itself stands for an unknown MPI. Stateless; any thread. Errors of all functions that
/// read: those of Memory and of find_type.
class MpiSupport {
public:
  MpiSupport() = default;
  explicit MpiSupport(const MpiFacts& facts) : facts_(facts) {}
  virtual ~MpiSupport() = default;
  MpiSupport(const MpiSupport&) = delete;
  MpiSupport& operator=(const MpiSupport&) = delete;

  const MpiFacts& facts() const { return facts_; }

  /// The MPI by the contents of its library's file, where no symbol leads to SymbolFacts::version.
  /// nullopt: the MPI is that of facts(), of an unknown version.
  virtual std::optional<MpiRelease> read_release(const ElfFile&) const { return std::nullopt; }
  /// For a recorder: the name by which the MPI beside it calls itself. Empty: not known.
  virtual Result<std::string> read_mpi_name(const AddressSpace& space) const;
  /// The launcher's name of the process's job, if its memory has it and its environment has not.
  /// Empty: not known.
  virtual Result<std::string> read_job(const AddressSpace& space) const;
  /// The job's name in the command line of LauncherFacts::naming_daemon. nullopt: it has none.
  virtual std::optional<std::string> name_job(std::span<const std::string_view> command) const;
  /// For an MPI whose launchers have no table of their ranks. nullopt: `command` starts no daemon.
  virtual std::optional<DaemonCommand>
  read_daemon_command(std::span<const std::string_view> command) const;
  /// The launcher's name of the job that the MPI calls `job` in a process of the job `own`, which
  /// is the launcher's name, too. `job` itself where they are the same, or it is not known.
  virtual std::string launchers_name(std::string_view job, std::string_view own) const;
  /// The variable that makes the launcher hand `variable` on to processes on other nodes. nullopt:
  /// none is needed, or the launcher's command (`words`) hands variables on in its own way.
  virtual std::optional<EnvironmentVariable> hand_on(std::string_view variable,
                                                     std::span<const std::string> words) const;
  /// Words of this image that will be read, beside SymbolFacts::roots. Worked out from its file
  /// alone: the process is not read.
  virtual std::vector<RootWord> root_words(const Image&) const { return {}; }

  /// Whether the process is before, between or after MPI_Init and MPI_Finalize, by its MPI
  /// library's own state.
  virtual Result<MpiState> read_state(const AddressSpace& space) const;

  /// Whether `find` knows the types that the DLL and the repairs need, and whether they agree with
  /// the sizes that the running library states.
  virtual Result<TypesCheck> check_types(const TypeFinder& find, const AddressSpace& space) const;
  /// The command that provides the missing types.
  virtual std::string types_hint(const MpiLibrary& mpi, const Platform& platform) const;

  /// Types that a carrier holds.
  virtual CarrierTypes carrier_types() const;
  /// make_type_carrier() and its errors, for an MPI of which carriers can be made.
  virtual Result<void> make_carrier(const CarrierRequest& request) const;
  /// Compares types of such a file with those of an installed `library`; nullopt: of the one that
  /// is found. Errors: those of `types` and ElfFile::open, types.no_library.
  virtual Result<TypesFileCheck>
  check_carrier(TypeSource& types, const std::optional<std::filesystem::path>& library) const;

  virtual Result<Transport> read_transport(const AddressSpace& space) const;

  /// doctor's words for a transport that read_transport() named and whose queues the DLL sees.
  /// Empty: none.
  virtual std::string describe_transport(const std::string&) const { return {}; }

  /// How much memory the DLL will look at; nullopt: not known.
  virtual Result<std::optional<QueueExtent>> queue_extent(const AddressSpace& space) const;

  /// Whether it is the communicator with all processes, whatever the program calls it. (By name if
  /// only that tells.) After repair().
  virtual bool is_world(const Communicator& communicator) const;
  /// Whether a process in this state may have no MPI_COMM_WORLD, but only communicators of a
  /// session.
  virtual bool may_lack_world(const ImageSet&, MpiState) const { return false; }

  /// The answer that MPI_Query_thread would give.
  virtual Result<ThreadLevel> read_thread_level(const AddressSpace& space) const;

  /// Whether the process has ever made a request that neither the queues nor the messages inside of
  /// collectives show. nullopt: not known.
  virtual Result<std::optional<bool>> has_made_unlisted_requests(const AddressSpace& space) const;

  /// A number that changes whenever the process calls a function of the MPI that waits or polls.
  /// nullopt: not known.
  virtual Result<std::optional<std::int64_t>> read_progress(const AddressSpace& space) const;

  /// The communicators, as the debug DLL would list them, before repair(). For an MPI of
  /// DllFacts::can_do_without; its queues are left to add_unshown(). Errors: walk.unreadable.
  virtual Result<std::vector<Communicator>> list_communicators(const AddressSpace& space) const;

  /// Adds facts from the MPI's own memory that the debug DLL does not show. To be called after
  /// repair(). If it fails, the communicators are as true as before.
  virtual Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                             const UnshownRequest& request,
                                             const AddressSpace& space) const;

  /// The variables of MPI_T. A recorder has what MPI_T said inside of the process, an MPI has its
  /// own tables. nullopt: nobody knows where they are. Warnings say why the list may not be whole.
  /// Errors: variables.*, those of Memory and of find_type.
  virtual Result<std::optional<ProcessVariables>> read_variables(const AddressSpace& space,
                                                                 Warnings& warnings) const;

  /// Corrects what this provider's DLL gets wrong (repairs.h).
  virtual Result<void> repair(std::vector<Communicator>& communicators,
                              const AddressSpace& space) const;

private:
  MpiFacts facts_;
};

/// One object for each known MPI, in the order in which a process is compared with them.
/// known_mpis.cpp has the list: another MPI is a folder and an entry there.
std::span<const MpiSupport* const> known_mpis();
/// The libraries of all known MPIs.
LibraryNames mpi_libraries();
/// The further libraries of all known MPIs that carry messages (LibraryFacts::transports).
LibraryNames transport_libraries();
/// Where distributions put their debug DLLs, below a directory of libraries.
std::vector<std::string_view> dll_directories();
/// Libraries of their launchers that may have MPIR_proctable.
std::vector<std::string_view> launcher_table_libraries();

/// The support for this MpiFacts::provider; for any other name the one for unknown MPIs.
const MpiSupport& support_of(std::string_view provider);
/// The same by MpiFacts::name, as a report has it.
const MpiSupport& support_named(std::string_view name);

} // namespace mqbridge
