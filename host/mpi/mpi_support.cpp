#include "host/mpi/mpi_support.h"

#include <fmt/format.h>

namespace mqbridge {

MpiIdentity MpiSupport::identity() const {
  return {"other", "MPI"};
}

Result<std::string> MpiSupport::read_job(const AddressSpace&) const {
  return std::string();
}

Result<std::string> MpiSupport::read_mpi_name(const AddressSpace&) const {
  return std::string();
}

Result<MpiState> MpiSupport::read_state(const AddressSpace&) const {
  return MpiState::unknown;
}

Result<TypesCheck> MpiSupport::check_types(const TypeFinder&, const AddressSpace&) const {
  return TypesCheck(); // what it needs is not known
}

std::string MpiSupport::types_hint(const MpiLibrary& mpi, const Platform&) const {
  return fmt::format("install the debug symbols of {}, or give a file with them: --types FILE",
                     mpi.name);
}

Result<Transport> MpiSupport::read_transport(const AddressSpace&) const {
  return Transport();
}

Result<std::optional<QueueExtent>> MpiSupport::queue_extent(const AddressSpace&) const {
  return std::nullopt;
}

bool MpiSupport::is_world(const Communicator& communicator) const {
  return communicator.name == "MPI_COMM_WORLD";
}

Result<ThreadLevel> MpiSupport::read_thread_level(const AddressSpace&) const {
  return ThreadLevel::unknown;
}

Result<UnshownOutcome> MpiSupport::add_unshown(std::vector<Communicator>&, const UnshownRequest&,
                                               const AddressSpace&) const {
  return UnshownOutcome();
}

Result<std::optional<ProcessVariables>> MpiSupport::read_variables(const AddressSpace&,
                                                                   Warnings&) const {
  return std::nullopt;
}

Result<void> MpiSupport::repair(std::vector<Communicator>&, const AddressSpace&) const {
  return {};
}

} // namespace mqbridge
