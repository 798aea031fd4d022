#include "host/elf/elf_file.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/openmpi/openmpi_repairs.h"

#include <fmt/format.h>

namespace mqbridge::openmpi {
namespace {

bool is_this_machine(const Platform& platform) {
  const auto ours = read_elf_platform("/proc/self/exe");
  return ours && ours->architecture == platform.architecture;
}

class Support final : public MpiSupport {
public:
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
          "the headers of {} {} for {} (its own libopenmpi-dev) in a directory here, and\n"
          "mqbridge types make --mpi openmpi --cc CROSS-COMPILER --include DIR -o ompi.types.so    "
          "then: --types ompi.types.so",
          mpi.name, version, platform.architecture);
    return fmt::format(
        "apt install libopenmpi-dev    (the headers of {} {}, the very version that runs)\n"
        "mqbridge types make --mpi openmpi -o ompi.types.so    then: --types ompi.types.so",
        mpi.name, version);
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
