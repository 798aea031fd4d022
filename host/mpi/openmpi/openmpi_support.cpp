#include "host/mpi/openmpi/openmpi_support.h"

#include "host/disk/file_name.h"
#include "host/mpi/openmpi/carrier_hint.h"
#include "host/mpi/openmpi/mca_variables.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_process.h"
#include "host/mpi/openmpi/openmpi_repairs.h"
#include "host/mpi/openmpi/openmpi_unshown.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

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
    "ompi_mpi_comm_world",
    "ompi_mpi_comm_self",
    "ompi_mpi_comm_null",
    "ompi_mpi_comm_parent",
    "ompi_mpi_group_null",
    "ompi_mpi_group_empty",
    "ompi_request_null",
    "ompi_request_empty",
});

constexpr auto limits = std::to_array<DllLimit>({
    {"unexpected", "Open MPI's debug DLL never provides the unexpected messages",
     "read by mqbridge from ob1"},
    {"inside", "Open MPI's debug DLL hides what a rank inside a collective or MPI_Probe waits for",
     "what a rank inside a collective or MPI_Probe waits for is read by mqbridge from ob1"},
});

constexpr auto jumps = std::to_array<LastDeed>({
    {"ompi_mpi_finalize", "MPI_Finalize"},
    {"mca_pml_base_bsend_detach", "MPI_Buffer_detach"},
});

/// Its number in the job and on its node, and directories that are named after the node.
constexpr auto each_its_own = std::to_array<std::string_view>(
    {"ess_base_vpid", "orte_ess_vpid", "orte_ess_node_rank", "orte_top_session_dir",
     "orte_jobfam_session_dir", "orte_job_session_dir", "orte_proc_session_dir"});

/// Open MPI's own libraries; its plugins have classes without end, of which nothing is asked.
bool is_own_library(std::string_view path) {
  const auto name = file_name(path);
  return name.starts_with("libmpi") || name.starts_with("libopen-");
}
constexpr auto libraries =
    std::to_array<std::string_view>({"libmpi", "libopen-pal", "libopen-rte"});

class Support final : public MpiSupport {
public:
  MpiIdentity identity() const override {
    return {"openmpi", "Open MPI", "ompi_version_string", symbols, libraries};
  }
  std::span<const std::string_view> root_symbols() const override { return roots; }

  /// The sizes that types are compared with. A program may have all of Open MPI linked into it.
  std::vector<RootWord> root_words(const Image& image) const override {
    if (!image.file)
      return {};
    const auto needed = needed_types();
    const auto of_tools = tool_types(); // that are in a pack are compared, too
    const bool all = is_own_library(image.target_path);
    std::vector<RootWord> words;
    for (const auto& word : class_symbols(*image.file))
      if (all || owner_of(word.type) == TypesOf::ob1 ||
          std::ranges::find(needed, word.type) != needed.end() ||
          std::ranges::find(of_tools, word.type) != of_tools.end())
        words.push_back(
            {image.bias(word.size_word), static_cast<std::uint64_t>(word.size_word_size)});
    return words;
  }

  Result<MpiState> read_state(const AddressSpace& space) const override {
    return openmpi::read_state(space);
  }

  Result<TypesCheck> check_types(const TypeFinder& find, const AddressSpace& space) const override {
    auto comparison = openmpi::check_types(find, space);
    if (!comparison)
      return forward(std::move(comparison));
    const bool fit = comparison->fits();
    return TypesCheck{fit, std::move(comparison->missing), std::move(comparison->mismatches),
                      comparison->compared};
  }

  std::string types_hint(const MpiLibrary& mpi, const Platform& platform) const override {
    const auto version = mpi.version.value_or("(version unknown)");
    if (!is_this_machine(platform))
      return fmt::format(
          "the headers of {} {} for {} (its own libopenmpi-dev) in a directory here, and\n{}",
          mpi.name, version, platform.architecture, carrier_line(platform));
    return fmt::format(
        "apt install libopenmpi-dev    (the headers of {} {}, the very version that runs)\n{}",
        mpi.name, version, carrier_line(platform));
  }

  Result<Transport> read_transport(const AddressSpace& space) const override {
    auto name = openmpi::read_transport(space);
    if (!name)
      return forward(std::move(name));
    Transport transport{std::move(*name), false, std::nullopt};
    if (!transport.name) {
      transport.warning = {
          "transport.unknown",
          "the transport could not be read: Open MPI's debug DLL sees the queues of ob1 alone, so "
          "that an empty queue may be one that it does not see",
          "see what the job was started with: mpirun --mca pml ob1 ..."};
    } else if (*transport.name != "ob1") {
      transport.bypasses_dll = true;
      transport.warning = {
          "transport.bypasses",
          fmt::format("the transport {} keeps its own queues, which Open MPI's debug DLL does not "
                      "see",
                      *transport.name),
          "rerun the job with: mpirun --mca pml ob1 ..."};
    }
    return transport;
  }

  std::string describe_transport(const std::string& name) const override {
    return name == "ob1" ? "ob1, seen by the debug DLL" : "";
  }
  std::span<const LastDeed> last_deeds() const override { return jumps; }

  std::span<const std::string_view> own_variables() const override { return each_its_own; }
  std::span<const DllLimit> dll_limits() const override { return limits; }

  Result<std::optional<QueueExtent>> queue_extent(const AddressSpace& space) const override {
    return openmpi::queue_extent(space);
  }

  bool statuses_need_repair() const override { return true; }
  bool ranks_need_repair() const override { return true; }
  bool is_world(const Communicator& communicator) const override { return !communicator.id; }
  bool world_is_certain() const override { return true; }
  bool may_lack_world(const ImageSet& images, MpiState state) const override {
    return state == MpiState::unknown && has_sessions(images);
  }

  Result<ThreadLevel> read_thread_level(const AddressSpace& space) const override {
    return openmpi::read_thread_level(space);
  }

  Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                     const UnshownRequest& request,
                                     const AddressSpace& space) const override {
    return openmpi::add_unshown(communicators, request, space);
  }

  Result<std::optional<ProcessVariables>> read_variables(const AddressSpace& space,
                                                         Warnings& warnings) const override {
    auto variables = read_mca_variables(space, warnings);
    if (!variables)
      return forward(std::move(variables));
    return std::optional(std::move(*variables));
  }

  Result<void> repair(std::vector<Communicator>& communicators,
                      const AddressSpace& space) const override {
    return openmpi::repair(communicators, space);
  }
};

} // namespace

const MpiSupport& support() {
  static const Support support;
  return support;
}

} // namespace mqbridge::openmpi
