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

constexpr auto symbols = std::to_array<std::string_view>({MQR_ROOT_SYMBOL});
constexpr auto roots = std::to_array<std::string_view>({MQR_VERSION_SYMBOL, MQR_ROOT_SYMBOL});
constexpr auto libraries = std::to_array<std::string_view>({"libmqbridge"});
constexpr auto inner = std::to_array<std::string_view>({"libmqbridge-recorder"});

constexpr QueueWords lists_all = {.empty = "empty"};
constexpr MpiFacts own_facts = {
    .provider = "recorder",
    .name = "mqbridge recorder",
    .is_recorder = true,
    .symbols = {.of_each_process = symbols, .version = MQR_VERSION_SYMBOL, .roots = roots},
    .libraries = {.beginnings = libraries, .inner = inner},
    .dll = {.words = {lists_all, lists_all, lists_all},
            .lists_all = true,
            .needs_types = false, // its layout is the same everywhere
            .handles_are_read = true},
};

class Support final : public MpiSupport {
public:
  Support() : MpiSupport(own_facts) {}

  Result<std::string> read_mpi_name(const AddressSpace& space) const override {
    return read_library(space);
  }
  Result<std::string> read_job(const AddressSpace& space) const override {
    return recorder::read_job(space);
  }

  Result<MpiState> read_state(const AddressSpace& space) const override {
    return recorder::read_state(space);
  }

  Result<ThreadLevel> read_thread_level(const AddressSpace& space) const override {
    return recorder::read_thread_level(space);
  }

  Result<std::optional<std::int64_t>> read_progress(const AddressSpace& space) const override {
    const auto* const mpi = loaded_mpi(space.images);
    if (mpi == nullptr)
      return std::nullopt;
    return mpi->read_progress(space);
  }

  /// The recorder gives MPI_COMM_WORLD the same id in every process. A program that uses only the
  /// recorder's core may give it another id: then the name tells it.
  bool is_world(const Communicator& communicator) const override {
    return communicator.id.value == MQR_ID_OF_WORLD || communicator.name == "MPI_COMM_WORLD";
  }

  /// Operations are recorded whatever transport carries the messages.
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
