#include "host/mpi/openmpi/ob1_lengths.h"

#include "host/limits.h"
#include "host/mpi/openmpi/ob1_channels.h"
#include "host/mpi/openmpi/ob1_types.h"
#include "host/mpi/openmpi/openmpi_objects.h"
#include "host/mpi/openmpi/openmpi_process.h"
#include "host/mpi/texts.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::openmpi {
namespace {

constexpr std::string_view unexpected_length = "pml_ob1_unexpected_msgq_length";
constexpr std::string_view posted_length = "pml_ob1_posted_recvq_length";
constexpr std::string_view table_of_communicators = "ompi_mpi_communicators";
constexpr std::uint64_t is_intercommunicator = 1; // OMPI_COMM_INTER
constexpr std::size_t longest_name = 64;          // MPI_MAX_OBJECT_NAME
/// Lengths of all communicators together; each has 16 bytes.
constexpr std::size_t most_lengths = std::size_t{1} << 20;

Variable* find(ProcessVariables& variables, std::string_view name) {
  const auto found = std::ranges::find_if(variables.variables, [&](const Variable& variable) {
    return variable.name == name && variable.kind == VariableKind::performance &&
           variable.binding == Binding::comm;
  });
  return found != variables.variables.end() ? &*found : nullptr;
}

/// Intracommunicators of the process, and their objects.
struct Communicators {
  std::vector<Communicator> communicators;
  std::vector<Words::Value> objects;
};

class CommunicatorReader {
public:
  CommunicatorReader(Fields& fields, const AddressSpace& space)
      : fields_(fields), space_(space),
        context_(fields.find_as_typed("ompi_communicator_t", "c_contextid")),
        flags_(fields.find_as_typed("ompi_communicator_t", "c_flags")),
        group_(fields.find_as_typed("ompi_communicator_t", "c_local_group")),
        name_(fields.find("ompi_communicator_t", "c_name", 1)),
        size_(fields.find_as_typed("ompi_group_t", "grp_proc_count")) {}

  Result<Communicators> read() {
    auto slots = all_slots();
    if (!slots)
      return forward(std::move(slots));
    auto objects = objects_in(table_of_communicators, *slots, fields_, space_);
    if (!objects)
      return forward(std::move(objects));
    if (auto done = read_words(*objects); !done)
      return forward(std::move(done));
    Communicators found;
    for (std::size_t i = 0; i < slots->size(); ++i)
      if (const auto& object = (*objects)[i]; is_intracommunicator(object, (*slots)[i])) {
        found.communicators.push_back(describe(object, (*slots)[i]));
        found.objects.push_back(object);
      }
    return found;
  }

private:
  Result<std::vector<std::uint64_t>> all_slots() {
    std::vector<std::uint64_t> slots;
    const auto root = space_.images.find_symbol(table_of_communicators);
    const Field count = fields_.find_as_typed("opal_pointer_array_t", "size");
    Words words;
    const Words::Value at = root ? Words::Value(root->address.value) : std::nullopt;
    words.want(at, count);
    if (auto done = words.read(space_); !done)
      return forward(std::move(done));
    slots.resize(static_cast<std::size_t>(
        std::min<std::uint64_t>(words.get(at, count).value_or(0), limits::variables)));
    std::iota(slots.begin(), slots.end(), std::uint64_t{0});
    return slots;
  }

  Result<void> read_words(const std::vector<Words::Value>& objects) {
    for (const auto& object : objects) {
      for (const Field& field : {context_, flags_, group_})
        words_.want(object, field);
      if (object.value_or(0) != 0 && name_)
        names_.want(*object + name_.offset);
    }
    if (auto done = words_.read(space_); !done)
      return done;
    for (const auto& object : objects)
      words_.want(words_.get(object, group_), size_);
    if (auto done = words_.read(space_); !done)
      return done;
    return names_.read(space_);
  }

  /// Whether it is an intracommunicator, and itself says that it stands in this slot. MPI_COMM_NULL
  /// has no members.
  bool is_intracommunicator(const Words::Value& object, std::uint64_t slot) const {
    return object.value_or(0) != 0 && words_.get(object, context_) == slot &&
           (words_.get(object, flags_).value_or(is_intercommunicator) & is_intercommunicator) ==
               0 &&
           size_of(object) > 0;
  }

  std::uint64_t size_of(const Words::Value& object) const {
    return words_.get(words_.get(object, group_), size_).value_or(0);
  }

  Communicator describe(const Words::Value& object, std::uint64_t slot) const {
    Communicator communicator;
    communicator.id = {slot};
    communicator.kind = CommunicatorKind::intra;
    communicator.size = static_cast<std::int64_t>(size_of(object));
    if (const auto* name = names_.get(*object + name_.offset))
      communicator.name = *name;
    return communicator;
  }

  Fields& fields_;
  const AddressSpace& space_;
  Field context_, flags_, group_, name_, size_;
  Words words_;
  Texts names_{longest_name, longest_name* limits::variables};
};

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
  auto found = CommunicatorReader(fields, space).read();
  if (!found)
    return forward(std::move(found));
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
