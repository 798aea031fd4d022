#include "host/mpi/mpich/mpich_support.h"

#include "host/mpi/mpich/mpich_found_communicators.h"
#include "host/mpi/mpich/mpich_insides.h"
#include "host/mpi/mpich/mpich_process.h"
#include "host/mpi/mpich/mpich_release.h"
#include "host/mpi/mpich/mpich_repairs.h"
#include "host/mpi/mpich/mpich_ucx.h"
#include "host/mpi/preload/recorder_files.h"

#include <fmt/format.h>

namespace mqbridge::mpich {
namespace {

class Support final : public MpiSupport {
public:
  Support() : MpiSupport(own_facts) {}

  std::optional<MpiRelease> read_release(const ElfFile& library) const override {
    return mpich::read_release(library);
  }

  /// "hydra-HOST:PORT.GROUP": the address at which the proxy's mpiexec listens, and the one of
  /// mpiexec's process groups that the proxy starts.
  std::optional<std::string> name_job(std::span<const std::string_view> command) const override {
    std::string_view port, group = "0";
    for (std::size_t i = 0; i + 1 < command.size(); ++i) {
      if (command[i] == "--control-port")
        port = command[i + 1];
      else if (command[i] == "--pgid")
        group = command[i + 1];
    }
    return port.empty() ? std::nullopt : std::optional(fmt::format("hydra-{}.{}", port, group));
  }

  Result<MpiState> read_state(const AddressSpace& space) const override {
    return mpich::read_state(space);
  }

  /// MPICH's library states no sizes to compare with.
  Result<TypesCheck> check_types(const TypeFinder& find, const AddressSpace&) const override {
    auto missing = missing_types(find);
    if (!missing)
      return forward(std::move(missing));
    const bool fit = missing->empty();
    return TypesCheck{fit, std::move(*missing), {}, 0};
  }

  /// The types come with the DLL, so the hint is the same. A recorder needs none of them.
  std::string types_hint(const MpiLibrary&, const Platform&) const override {
    const auto hint = own_facts.dll.install_hint;
    return fmt::format("{}\nor rerun it with the recorder: {}", hint.substr(0, hint.find('\n')),
                       preload::rerun_line);
  }

  Result<Transport> read_transport(const AddressSpace& space) const override {
    auto device = read_device(space);
    if (!device)
      return forward(std::move(device));
    return Transport{std::move(device->name), false, std::move(device->warning)};
  }

  std::string describe_transport(const std::string& name) const override { return name; }

  Result<std::vector<Communicator>> list_communicators(const AddressSpace& space) const override {
    auto data = find_own_data(space);
    if (!data)
      return forward(std::move(data));
    auto found = find_communicators(*data, space);
    if (!found)
      return forward(std::move(found));
    std::vector<Communicator> listed;
    for (FoundCommunicator& each : *found)
      if (!each.is_part)
        listed.push_back(std::move(each.communicator));
    return listed;
  }

  /// The context id tells it; the repairs have read the id.
  bool is_world(const Communicator& communicator) const override {
    return communicator.context == 0;
  }

  Result<void> repair(std::vector<Communicator>& communicators,
                      const AddressSpace& space) const override {
    return mpich::repair(communicators, space);
  }

  Result<UnshownOutcome> add_unshown(std::vector<Communicator>& communicators,
                                     const UnshownRequest& request,
                                     const AddressSpace& space) const override {
    if (!request.all)
      return add_insides(communicators, request, space);
    auto data = find_own_data(space);
    if (!data)
      return forward(std::move(data));
    return add_ucx_operations(communicators, request, *data, space);
  }
};

} // namespace

const MpiSupport& support() {
  static const Support support;
  return support;
}

} // namespace mqbridge::mpich
