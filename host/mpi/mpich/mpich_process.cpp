#include "host/mpi/mpich/mpich_process.h"

#include "host/codes.h"
#include "host/memory/reader.h"
#include "host/mpi/mpich/mpich_layout.h"
#include "host/mpi/mpich/mpich_pools.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::mpich {
namespace {

constexpr std::size_t max_device_name = 64;

bool is_device_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_';
  });
}

/// An integer or pointer at `address`; nullopt: not readable.
Result<Words::Value> word_at(TargetAddress address, const Field& field, const AddressSpace& space) {
  Words words;
  words.want(address.value, field);
  if (auto done = words.read(space); !done)
    return forward(std::move(done));
  return words.get(address.value, field);
}

/// By the object of MPI_COMM_WORLD, which MPI_Init makes, and MPI_Finalize frees near its end.
Result<MpiState> read_state_without_symbols(const AddressSpace& space) {
  auto data = find_own_data(space);
  if (!data)
    return forward(std::move(data));
  if (data->communicators.object_bytes == 0 || data->requests.object_bytes == 0 || !data->is_all)
    return MpiState::unknown;
  if (data->predefined == 0)
    return MpiState::not_initialized;
  auto references = word_at({data->predefined}, object::references, space);
  if (!references)
    return forward(std::move(references));
  if (!*references)
    return MpiState::unknown;
  return **references == 0 ? MpiState::finalized : MpiState::initialized;
}

} // namespace

Result<MpiState> read_state(const AddressSpace& space) {
  const auto debug_state = space.images.find_symbol("MPIR_debug_state");
  const auto communicators = space.images.find_symbol("MPIR_All_communicators");
  if (!debug_state || !communicators)
    return read_state_without_symbols(space);
  Fields fields(space.images);
  const Field head = fields.find("MPIR_Comm_list", "head", space.platform.pointer_size);
  if (fields.error())
    return Failure(*fields.error());
  // mpi/debugger/dbginit.c: MPIR_debug_state is 0 until MPI_Init is nearly done. MPI_Finalize does
  // not change it, but takes the last communicator off the list.
  const Field whole_int{0, static_cast<std::size_t>(space.platform.int_size)};
  auto initialized = word_at(debug_state->address, whole_int, space);
  if (!initialized)
    return forward(std::move(initialized));
  auto first = word_at(communicators->address, head, space);
  if (!first)
    return forward(std::move(first));
  if (*initialized == 0)
    return MpiState::not_initialized;
  if (!*initialized || !*first)
    return MpiState::unknown;
  return **first == 0 ? MpiState::finalized : MpiState::initialized;
}

Result<Device> read_device(const AddressSpace& space) {
  Device device;
  const auto symbol = space.images.find_symbol("MPII_Version_device");
  if (!symbol) {
    auto data = find_own_data(space);
    if (!data)
      return forward(std::move(data));
    if (data->ucx != 0)
      device.name = "ch4:ucx";
    return device;
  }
  auto name = read_string(space.memory, symbol->address, max_device_name);
  if (!name && name.error().code == codes::memory_unreadable)
    return device;
  if (!name)
    return forward(std::move(name));
  if (!is_device_name(*name))
    return device;
  // From 4.1 on MPICH keeps the lists above the device. One that has no list of its communicators
  // was not built for a debug DLL.
  if (name->starts_with("ch4") && !space.images.find_symbol("MPIR_Recvq_head") &&
      space.images.find_symbol("MPIR_All_communicators"))
    device.warning =
        Error{"transport.partial",
              fmt::format("the device {} shows MPICH's debug DLL its active messages alone: an "
                          "empty queue may be one that it does not see",
                          *name),
              "MPICH 4.1 or later, or one built with --with-device=ch3:nemesis --enable-debuginfo"};
  device.name = std::move(*name);
  return device;
}

Result<std::vector<std::string>> missing_types(const TypeFinder& find) {
  std::vector<std::string> missing;
  for (const char* name : {"MPIR_Comm_list", "MPIR_Comm", "MPIR_Request"}) {
    auto type = find(name);
    if (!type)
      return forward(std::move(type));
    if (*type == nullptr)
      missing.emplace_back(name);
  }
  return missing;
}

} // namespace mqbridge::mpich
