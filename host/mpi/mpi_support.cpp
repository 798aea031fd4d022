#include "host/mpi/mpi_support.h"

#include "host/mpi/type_carrier.h"

#include <fmt/format.h>

namespace mqbridge {

Result<std::string> MpiSupport::read_job(const AddressSpace&) const {
  return std::string();
}

std::string MpiSupport::launchers_name(std::string_view job, std::string_view) const {
  return std::string(job);
}

std::optional<std::string> MpiSupport::name_job(std::span<const std::string_view>) const {
  return std::nullopt;
}

std::optional<DaemonCommand>
MpiSupport::read_daemon_command(std::span<const std::string_view>) const {
  return std::nullopt;
}

std::optional<EnvironmentVariable> MpiSupport::hand_on(std::string_view,
                                                       std::span<const std::string>) const {
  return std::nullopt;
}

Result<std::string> MpiSupport::read_mpi_name(const AddressSpace&) const {
  return std::string();
}

Result<MpiState> MpiSupport::read_state(const AddressSpace&) const {
  return MpiState::unknown;
}

Result<TypesCheck> MpiSupport::check_types(const TypeFinder&, const AddressSpace&) const {
  return TypesCheck(); // it is not known which types this MPI needs
}

std::string MpiSupport::types_hint(const MpiLibrary& mpi, const Platform&) const {
  return fmt::format("install the debug symbols of {}, or give a file with them: --types FILE",
                     mpi.name);
}

CarrierTypes MpiSupport::carrier_types() const {
  return {};
}

Result<void> MpiSupport::make_carrier(const CarrierRequest& request) const {
  return unknown_mpi(request.mpi);
}

Result<TypesFileCheck>
MpiSupport::check_carrier(TypeSource&, const std::optional<std::filesystem::path>&) const {
  return unknown_mpi(facts_.provider);
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

Result<std::optional<bool>> MpiSupport::has_made_unlisted_requests(const AddressSpace&) const {
  return std::nullopt;
}

Result<std::optional<std::int64_t>> MpiSupport::read_progress(const AddressSpace&) const {
  return std::nullopt;
}

Result<std::vector<Communicator>> MpiSupport::list_communicators(const AddressSpace&) const {
  return std::vector<Communicator>();
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
