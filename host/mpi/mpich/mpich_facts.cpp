#include "host/mpi/mpich/mpich_support.h"

namespace mqbridge::mpich {
namespace {

/// The last one is MPI_DUP_FN of mpi.h, and so part of MPICH's binary interface. A library may
/// export the functions of the interface alone, as Debian's MPICH 4.2.1 does.
constexpr auto symbols = std::to_array<std::string_view>(
    {"MPII_Version_string", "MPIR_Process", "MPIR_All_communicators", "MPIR_Dup_fn"});

constexpr auto roots = std::to_array<std::string_view>({
    "MPII_Version_string",
    "MPII_Version_device",
    "MPIR_Process",
    "MPIR_All_communicators",
    "MPIR_Sendq_head",
    "MPIR_Recvq_head",
    "MPIR_Unexpq_head",
    "MPID_Recvq_posted_head_ptr",
    "MPID_Recvq_unexpected_head_ptr",
});

constexpr auto beginnings = std::to_array<std::string_view>({"libmpi", "libmpich"});
constexpr auto of_programs =
    std::to_array<std::string_view>({"libmpi", "libmpicxx", "libmpifort", "libmpich",
                                     "libmpichfort", "libmpichcxx", "libmpichf90"});
/// Libraries of Cray's and Intel's MPIs are among them, which are made of MPICH.
constexpr auto inner = std::to_array<std::string_view>(
    {"libfmpich", "libmpi_gnu_", "libmpi_cray", "libmpi_intel", "libmpi_ilp64"});

constexpr auto transports = std::to_array<std::string_view>({"libucp.so"});

constexpr auto helper_functions = std::to_array<std::string_view>({"MPIDI_OFI_progress_thread"});

constexpr auto progress = std::to_array<std::string_view>({"MPIDI_CH3I_Progress"}); // device ch3

/// MPICH's hydra also starts the jobs of other MPIs that are made of MPICH.
constexpr auto fronts =
    std::to_array<std::string_view>({"mpiexec.hydra", "mpirun.mpich", "mpiexec.mpich"});
constexpr auto daemons = std::to_array<std::string_view>({"hydra_pmi_proxy", "hydra_bstrap_proxy"});

constexpr auto dll_directories = std::to_array<std::string_view>({"mpich/lib"});

constexpr auto limits = std::to_array<DllLimit>({
    DllLimit{.subject = "send",
             .text = "MPICH remembers nonblocking sends for its debug DLL, not those of MPI_Send, "
                     "MPI_Ssend, MPI_Ssend_init and MPI_Ibsend; a receive is listed until its "
                     "message has come",
             .read_without = true},
    DllLimit{.subject = "unexpected",
             .text = "a message that has come is invisible until the process polls: inside an MPI "
                     "call"},
    DllLimit{.subject = "inside",
             .text = "of a rank inside a collective the receives are shown (device ch3), not the "
                     "sends",
             .read_without = true},
    DllLimit{.subject = "probe", .text = "what MPI_Probe and MPI_Mprobe wait for is in no list"},
});

/// Those of mpich_release.cpp.
constexpr auto other_names = std::to_array<std::string_view>({"MVAPICH", "Intel MPI", "MPICH ABI"});

} // namespace

constinit const MpiFacts own_facts = {
    .provider = "mpich",
    .name = "MPICH",
    .other_names = other_names,
    // The version is in version.c.
    .symbols = {.of_each_process = symbols, .version = "MPII_Version_string", .roots = roots},
    // The number is the one of MPICH's binary interface, which Intel MPI, Cray MPI and MVAPICH
    // share.
    .libraries = {.beginnings = beginnings,
                  .of_programs = of_programs,
                  .inner = inner,
                  .transports = transports,
                  .number = "12"},
    .helpers = {.functions = helper_functions},
    .progress = progress,
    .launcher = {.fronts = fronts, .daemons = daemons, .naming_daemon = "hydra_pmi_proxy"},
    .dll = {.install_hint = "rebuild MPICH with --enable-debuginfo (Debian's is built without), or "
                            "run the program with Open MPI\n"
                            "where the libtvmpich.so of that very MPICH is on this host: "
                            "--dll PATH",
            .directories = dll_directories,
            .limits = limits,
            .words = {QueueWords{.never_listed = "blocking sends are not listed",
                                 .read_without = true},
                      QueueWords{},
                      QueueWords{.never_listed = "those not polled yet are not listed"}},
            .can_do_without = true,
            .needs_types_without = false,
            .refuses_in_success = true,
            .ranks_need_repair = true,
            .handles_are_read = true},
    .world_is_certain = true,
    .finalizes_unseen = true,
    .arguments = {.any_source = -2,
                  .proc_null = -1,
                  .any_tag = -1,
                  .world = 0x44000000,
                  .self = 0x44000001,
                  .datatype = 0x4c000000},
    .counts_waits = true, // MPIDI_global's counts of progress
};

} // namespace mqbridge::mpich
