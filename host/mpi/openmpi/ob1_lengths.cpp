#include "host/mpi/openmpi/ob1_lengths.h"

#include "host/codes.h"
#include "host/mpi/openmpi/communicator_table.h"
#include "host/mpi/openmpi/ob1_channels.h"
#include "host/mpi/openmpi/ob1_types.h"
#include "host/mpi/openmpi/openmpi_process.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::openmpi {
namespace {

constexpr std::string_view unexpected_length = "pml_ob1_unexpected_msgq_length";
constexpr std::string_view posted_length = "pml_ob1_posted_recvq_length";
/// Lengths of all communicators together; each has 16 bytes.
constexpr std::size_t most_lengths = std::size_t{1} << 20;

Variable* find(ProcessVariables& variables, std::string_view name) {
  const auto found = std::ranges::find_if(variables.variables, [&](const Variable& variable) {
    return variable.name == name && variable.kind == VariableKind::performance &&
           variable.binding == Binding::comm;
  });
  return found != variables.variables.end() ? &*found : nullptr;
}

/// Of an intercommunicator the tool interface has no such length.
void leave_out_intercommunicators(CommunicatorTable& table) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < table.communicators.size(); ++i) {
    if (table.communicators[i].kind == CommunicatorKind::inter)
      continue;
    std::swap(table.communicators[kept], table.communicators[i]);
    std::swap(table.objects[kept], table.objects[i]);
    ++kept;
  }
  table.communicators.resize(kept);
  table.objects.resize(kept);
}

VariableReading reading_of(const Communicator& communicator, const CommunicatorChannels& channels,
                           ItemList Channel::*list, std::size_t& left) {
  VariableReading reading;
  reading.object = communicator.name;
  reading.context = communicator.id.value;
  if (channels.damage || std::cmp_greater(communicator.size, left)) {
    reading.reason = channels.damage.value_or("it has too many ranks");
    return reading;
  }
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(communicator.size));
  left -= lengths.size();
  for (const Channel& channel : channels.channels)
    lengths.at(static_cast<std::size_t>(channel.peer)) = (channel.*list).length;
  reading.value = std::move(lengths);
  return reading;
}

void give_reason(Variable* variable, const std::string& reason) {
  if (variable == nullptr)
    return;
  VariableReading reading;
  reading.reason = reason;
  variable->readings = {std::move(reading)};
}

/// Why ob1's lists cannot be read; empty: they can.
Result<std::string> why_not(const AddressSpace& space) {
  const auto transport = read_transport(space);
  if (!transport)
    return Failure(transport.error());
  if (*transport != "ob1")
    return fmt::format("the process does not use ob1: its transport is {}",
                       transport->value_or("not known"));
  auto lacking = lacking_ob1_types(space);
  if (!lacking)
    return forward(std::move(lacking));
  return *lacking ? (*lacking)->message : std::string();
}

} // namespace

Result<void> add_ob1_lengths(ProcessVariables& variables, const AddressSpace& space) {
  const std::pair<Variable*, ItemList Channel::*> wanted[] = {
      {find(variables, unexpected_length), &Channel::unexpected},
      {find(variables, posted_length), &Channel::specific_receives}};
  if (wanted[0].first == nullptr && wanted[1].first == nullptr)
    return {};
  auto reason = why_not(space);
  if (!reason)
    return forward(std::move(reason));
  Fields fields(space.images);
  const Ob1Layout layout(fields, space);
  if (reason->empty() && (!layout.missing.empty() || !layout.links.length))
    *reason = "this Open MPI keeps its messages in another way than is known";
  if (!reason->empty()) {
    for (const auto& [variable, list] : wanted)
      give_reason(variable, *reason);
    return {};
  }
  auto found = read_communicators(space);
  if (!found && found.error().code == codes::walk_unreadable) {
    for (const auto& [variable, list] : wanted)
      give_reason(variable, found.error().message);
    return {};
  }
  if (!found)
    return forward(std::move(found));
  leave_out_intercommunicators(*found);
  auto channels = read_channels(found->communicators, found->objects, layout, space);
  if (!channels)
    return forward(std::move(channels));
  std::size_t left = most_lengths;
  for (const auto& [variable, list] : wanted) {
    if (variable == nullptr)
      continue;
    variable->readings.clear();
    for (std::size_t i = 0; i < channels->size(); ++i)
      variable->readings.push_back(reading_of(found->communicators[i], (*channels)[i], list, left));
  }
  return {};
}

} // namespace mqbridge::openmpi
