#include "host/mpi/recorder/recorder_support.h"

#include "host/mpi/recorder/record.h"
#include "host/mpi/recorder/recorded_communicators.h"
#include "host/mpi/recorder/recorded_operations.h"
#include "host/mpi/recorder/recorded_threads.h"
#include "host/mpi/recorder/recorded_variables.h"
#include "host/mpi/recorder/recorder_process.h"

#include <array>

namespace mqbridge::recorder {
namespace {

constexpr std::string_view version_symbol = "mqbridge_recorder_version";
constexpr auto symbols = std::to_array<std::string_view>({MQR_ROOT_SYMBOL});
constexpr auto roots = std::to_array<std::string_view>({version_symbol, MQR_ROOT_SYMBOL});
constexpr auto libraries = std::to_array<std::string_view>({"libmqbridge"});

class Support final : public MpiSupport {
public:
  MpiIdentity identity() const override {
    return {"recorder", "mqbridge recorder", version_symbol, symbols, libraries};
  }
  bool is_recorder() const override { return true; }
  Result<std::string> read_mpi_name(const AddressSpace& space) const override {
    return read_library(space);
  }
  Result<std::string> read_job(const AddressSpace& space) const override {
    return recorder::read_job(space);
  }
  std::span<const std::string_view> root_symbols() const override { return roots; }

  Result<MpiState> read_state(const AddressSpace& space) const override {
    return recorder::read_state(space);
  }
  bool needs_types() const override { return false; } // its layout is the same everywhere

  Result<ThreadLevel> read_thread_level(const AddressSpace& space) const override {
    return recorder::read_thread_level(space);
  }

  /// By its id, which the recorder gives it in every process; the bare core's users by its name.
  bool is_world(const Communicator& communicator) const override {
    constexpr std::uint64_t id_of_world = 1;
    return communicator.id.value == id_of_world || communicator.name == "MPI_COMM_WORLD";
  }

  /// Whatever carries the messages, their operations are recorded.
  Result<Transport> read_transport(const AddressSpace& space) const override {
    const auto* const mpi = loaded_mpi(space.images);
    if (mpi == nullptr)
      return Transport();
    auto transport = mpi->read_transport(space);
    if (!transport)
      return transport;
    return Transport{transport->name, false, std::nullopt};
  }

  Result<void> repair(std::vector<Communicator>& communicators,
                      const AddressSpace& space) const override {
    for (auto& communicator : communicators)
      communicator.context = communicator.id.value; // dll/recorder/layout.h
    auto root = read_root(space);
    if (!root)
      return forward(std::move(root));
    if (!*root) {
      take_lines(communicators);
      return {};
    }
    auto threads = read_threads(space, **root);
    if (!threads)
      return forward(std::move(threads));
    return complete_operations(communicators, **root, waits_of(threads->in_calls), space);
  }

  Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                     const UnshownRequest&,
                                     const AddressSpace& space) const override {
    return add_recorded(communicators, space);
  }

  Result<std::optional<ProcessVariables>> read_variables(const AddressSpace& space,
                                                         Warnings& warnings) const override {
    return recorder::read_variables(space, warnings);
  }
};

} // namespace

const MpiSupport& support() {
  static const Support support;
  return support;
}

} // namespace mqbridge::recorder
