#include "host/mpi/openmpi/openmpi_support.h"

namespace mqbridge::openmpi {
namespace {

constexpr auto symbols = std::to_array<std::string_view>(
    {"ompi_mpi_communicators", "ompi_mpi_comm_world", "ompi_mpi_state"});

constexpr auto roots = std::to_array<std::string_view>({
    "ompi_version_string",
    "ompi_mpi_state",
    "ompi_mpi_thread_provided",
    "mca_pml_base_selected_component",
    "ompi_mpi_communicators",
    "ompi_mpi_windows",
    "mca_pml_base_send_requests",
    "mca_pml_base_recv_requests",
    "mca_pml_ob1",
    "ompi_mpi_comm_world",
    "ompi_mpi_comm_self",
    "ompi_mpi_comm_null",
    "ompi_mpi_comm_parent",
    "ompi_mpi_group_null",
    "ompi_mpi_group_empty",
    "ompi_request_null",
    "ompi_request_empty",
    "opal_progress_yield_when_idle",
    "ompi_mpi_double",
});

constexpr auto beginnings =
    std::to_array<std::string_view>({"libmpi", "libopen-pal", "libopen-rte"});
constexpr auto of_programs =
    std::to_array<std::string_view>({"libmpi", "libmpi_mpifh", "libmpi_usempi", "libmpi_usempif08",
                                     "libmpi_usempi_ignore_tkr", "libmpi_cxx"});
/// The run-time system's libraries are among them: its tools, such as mpirun, use no other ones.
constexpr auto inner =
    std::to_array<std::string_view>({"libmpi_java", "libopen-pal", "libopen-rte"});
/// UCX's protocols, and the plugins that leave messages to UCX or to libfabric.
constexpr auto transports =
    std::to_array<std::string_view>({"libucp.so", "mca_pml_ucx", "mca_mtl_ofi"});

constexpr auto helper_libraries = std::to_array<std::string_view>({"libopen-", "libprrte", "mca_"});
constexpr auto helper_functions = std::to_array<std::string_view>({"orte_progress_thread_engine"});

constexpr auto last_deeds = std::to_array<LastDeed>({
    {"ompi_mpi_finalize", "MPI_Finalize"},
    {"mca_pml_base_bsend_detach", "MPI_Buffer_detach"},
});

constexpr auto progress = std::to_array<std::string_view>({"opal_progress", "ucp_worker_progress"});
constexpr auto sending = std::to_array<std::string_view>({"mca_pml_ob1_send", "mca_pml_ucx_send"});

constexpr auto fronts = std::to_array<std::string_view>(
    {"orterun", "mpirun.openmpi", "mpiexec.openmpi", "oshrun", "prterun", "prun"});
constexpr auto daemons = std::to_array<std::string_view>({"orted", "prted", "prte"});
constexpr auto table_libraries = std::to_array<std::string_view>({"libopen-rte", "libprrte"});

/// The DLL is among Open MPI's plugins.
constexpr auto dll_directories = std::to_array<std::string_view>(
    {"openmpi/lib/openmpi3", "openmpi/lib/openmpi40", "openmpi/lib/openmpi", "openmpi"});

constexpr auto limits = std::to_array<DllLimit>({
    {"unexpected", "Open MPI's debug DLL never provides the unexpected messages",
     "read by mqbridge"},
    {"inside", "Open MPI's debug DLL hides what a rank inside a collective or MPI_Probe waits for",
     "what a rank inside a collective waits for is read by mqbridge"},
});

/// The process's number in the job and on its node, and directories that are named after the node.
constexpr auto own_variables = std::to_array<std::string_view>(
    {"ess_base_vpid", "orte_ess_vpid", "orte_ess_node_rank", "orte_top_session_dir",
     "orte_jobfam_session_dir", "orte_job_session_dir", "orte_proc_session_dir"});
/// All that releases 4.1 and 5.0 register so, by their sources.
constexpr auto lost_variables =
    std::to_array<std::string_view>({"coll_ftagree_agreement", "dl_libltdl_have_lt_dladvise",
                                     "mpi_ft_verbose", "pml_ucx_multi_send_nb"});

} // namespace

constinit const MpiFacts own_facts = {
    .provider = "openmpi",
    .name = "Open MPI",
    .symbols = {.of_each_process = symbols, .version = "ompi_version_string", .roots = roots},
    .libraries = {.beginnings = beginnings,
                  .of_programs = of_programs,
                  .inner = inner,
                  .transports = transports},
    .helpers = {.library_beginnings = helper_libraries, .functions = helper_functions},
    .last_deeds = last_deeds,
    .layers = {.messages = "mca_pml_", .transports = "mca_btl_"},
    .progress = progress,
    .launcher = {.fronts = fronts,
                 .daemons = daemons,
                 .table_libraries = table_libraries,
                 .rank_variable = "OMPI_COMM_WORLD_RANK",
                 .size_variable = "OMPI_COMM_WORLD_SIZE",
                 // mpirun passes to other nodes only the variables that it is told to pass.
                 .preloading_line = "mpirun -x LD_PRELOAD={} ..."},
    .dll = {.install_hint =
                "apt install libopenmpi3, on Debian 13 libopenmpi40    (or give the host's "
                "libompi_dbg_msgq.so with --dll PATH)",
            .directories = dll_directories,
            .limits = limits,
            // mqbridge reads the unexpected messages itself.
            .words = {QueueWords{}, QueueWords{},
                      QueueWords{.empty = "none arrived",
                                 .never_listed = "those not polled yet are not listed"}},
            .can_do_without = true,
            .ranks_need_repair = true,
            .statuses_need_repair = true,
            .handles_are_read = true},
    .carriers = {.can_be_made = true,
                 .without_source =
                     "without Open MPI's own source the types of ob1 are not in it: unexpected "
                     "messages, and what a rank inside a collective or MPI_Probe waits for, will "
                     "not be read"},
    .world_is_certain = true,
    .own_variables = own_variables,
    .lost_variables = lost_variables,
    .sending = sending,
    .arguments = {.any_source = -1, .proc_null = -2, .any_tag = -1},
    .duplicate = " DUP FROM ",
};

} // namespace mqbridge::openmpi
