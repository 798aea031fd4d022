#include "host/mpi/openmpi/openmpi_support.h"

#include "host/codes.h"
#include "host/disk/file_name.h"
#include "host/mpi/openmpi/communicator_table.h"
#include "host/mpi/openmpi/daemon_command.h"
#include "host/mpi/openmpi/job_numbers.h"
#include "host/mpi/openmpi/make_carrier.h"
#include "host/mpi/openmpi/mca_variables.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_process.h"
#include "host/mpi/openmpi/openmpi_repairs.h"
#include "host/mpi/openmpi/openmpi_unshown.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace mqbridge::openmpi {
namespace {

/// Whether it is one of Open MPI's own libraries. Its plugins have very many classes, and nobody
/// asks for them.
bool is_own_library(std::string_view path) {
  const auto name = file_name(path);
  return name.starts_with("libmpi") || name.starts_with("libopen-");
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// Whether the command itself passes variables on: Open MPI refuses a job that does so in two ways.
bool passes_variables(std::span<const std::string> words) {
  return std::ranges::any_of(words, [](const auto& word) {
    return word == "-x" || word == "--x" || word.ends_with("-tune") || word.ends_with("-am") ||
           word.find("mca_base_env") != std::string::npos;
  });
}

class Support final : public MpiSupport {
public:
  Support() : MpiSupport(own_facts) {}

  std::optional<EnvironmentVariable> hand_on(std::string_view name,
                                             std::span<const std::string> words) const override {
    // The names of the variables that mpirun passes on to other nodes, separated by semicolons.
    constexpr const char* forward = "OMPI_MCA_mca_base_env_list";
    if (!variable(forward).empty() || passes_variables(words))
      return std::nullopt;
    return EnvironmentVariable(forward, name);
  }

  std::optional<DaemonCommand>
  read_daemon_command(std::span<const std::string_view> command) const override {
    return openmpi::read_daemon_command(command);
  }

  std::string launchers_name(std::string_view job, std::string_view own) const override {
    return openmpi::launchers_name(job, own);
  }

  /// The words with the sizes that types are compared with. A program may have all of Open MPI
  /// linked into it.
  std::vector<RootWord> root_words(const Image& image) const override {
    if (!image.file)
      return {};
    const auto needed = needed_types();
    const auto of_tools = tool_types(); // those in a pack are compared, too
    const bool all = is_own_library(image.target_path);
    std::vector<RootWord> words;
    for (const auto& word : class_symbols(*image.file)) {
      if (is_unlisted_request(word.type))
        words.push_back({image.bias(word.initialized), sizeof(std::int32_t)});
      if (all || owner_of(word.type) == TypesOf::ob1 ||
          std::ranges::find(needed, word.type) != needed.end() ||
          std::ranges::find(of_tools, word.type) != of_tools.end())
        words.push_back(
            {image.bias(word.size_word), static_cast<std::uint64_t>(word.size_word_size)});
    }
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
          mpi.name, version, platform.architecture, carrier_line(platform, "--source DIR "));
    return fmt::format(
        "apt install libopenmpi-dev    (if it is of {} {}, as the library that runs)\n{}", mpi.name,
        version, carrier_line(platform, "--source DIR "));
  }

  CarrierTypes carrier_types() const override {
    return {needed_types(), {ob1_types(), tool_types()}};
  }
  Result<void> make_carrier(const CarrierRequest& request) const override {
    return openmpi::make_carrier(request);
  }
  Result<TypesFileCheck>
  check_carrier(TypeSource& types,
                const std::optional<std::filesystem::path>& library) const override {
    return openmpi::check_carrier(types, library);
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
          codes::transport_bypasses,
          fmt::format("the transport {} keeps its own queues, which Open MPI's debug DLL does not "
                      "see",
                      *transport.name),
          "rerun the job with: mpirun --mca pml ob1 ..."};
    }
    return transport;
  }

  std::string describe_transport(const std::string& name) const override {
    if (name == "ucx")
      return "ucx, whose queues mqbridge reads itself";
    return name == "ob1" ? "ob1, seen by the debug DLL" : "";
  }

  Result<std::optional<QueueExtent>> queue_extent(const AddressSpace& space) const override {
    return openmpi::queue_extent(space);
  }

  bool is_world(const Communicator& communicator) const override { return !communicator.id; }
  bool may_lack_world(const ImageSet& images, MpiState state) const override {
    return state == MpiState::unknown && has_sessions(images);
  }

  Result<ThreadLevel> read_thread_level(const AddressSpace& space) const override {
    return openmpi::read_thread_level(space);
  }

  Result<std::optional<bool>> has_made_unlisted_requests(const AddressSpace& space) const override {
    return openmpi::has_made_unlisted_requests(space);
  }

  Result<std::optional<std::int64_t>> read_progress(const AddressSpace& space) const override {
    return openmpi::read_progress(space);
  }

  Result<std::vector<Communicator>> list_communicators(const AddressSpace& space) const override {
    auto table = read_communicators(space);
    if (!table)
      return forward(std::move(table));
    return std::move(table->communicators);
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
