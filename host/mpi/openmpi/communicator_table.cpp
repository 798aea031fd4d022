#include "host/mpi/openmpi/communicator_table.h"

#include "host/codes.h"
#include "host/mpi/texts.h"
#include "host/mqs/interpret.h"
#include "host/mqs/wire.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {
namespace {

constexpr std::string_view table_symbol = "ompi_mpi_communicators";
/// MPI_COMM_NULL, which stands at the places of MPI_COMM_WORLD and MPI_COMM_SELF, too, where a
/// program has begun with a session of MPI-4 and never called MPI_Init.
constexpr std::string_view null_symbol = "ompi_mpi_comm_null";
constexpr std::string_view type = "ompi_communicator_t";
constexpr std::uint64_t is_intercommunicator = 1; // OMPI_COMM_INTER
constexpr std::uint64_t is_predefined = 4;        // OMPI_COMM_INTRINSIC
/// Open MPI 5 keeps a place for a communicator whose members still agree on it: OMPI_COMM_SENTINEL.
constexpr Words::Value reserved = 1;
constexpr std::size_t longest_name = 64; // MPI_MAX_OBJECT_NAME

constexpr std::string_view dump_again =
    "dump again: a process that was stopped in the middle of a change has changed it by then";

Failure unreadable(const std::string& what, std::string_view hint = dump_again) {
  return fail(codes::walk_unreadable,
              fmt::format("Open MPI's communicators are not known: {}", what), std::string(hint));
}

class TableReader {
public:
  explicit TableReader(const AddressSpace& space)
      : fields_(space.images), keys_(fields_), space_(space) {}

  Result<CommunicatorTable> read() {
    auto slots = all_slots();
    if (!slots)
      return forward(std::move(slots));
    auto objects = objects_in(table_symbol, *slots, fields_, space_);
    if (!objects)
      return forward(std::move(objects));
    std::ranges::replace(*objects, reserved, Words::Value(0));
    if (const auto null = space_.images.find_symbol(null_symbol))
      std::ranges::replace(*objects, Words::Value(null->address.value), Words::Value(0));
    if (auto done = read_words(*objects); !done)
      return forward(std::move(done));
    CommunicatorTable table;
    for (const std::uint64_t slot : *slots) {
      const auto& object = (*objects)[slot];
      if (object == 0U)
        continue;
      if (!object || words_.get(object, keys_.index) != slot || !size_of(object))
        return unreadable(fmt::format("the one at place {} of the table cannot be read, or is "
                                      "being changed",
                                      slot));
      if (size_of(object) == 0U)
        continue; // MPI_COMM_NULL
      table.communicators.push_back(describe(object, slot));
      table.objects.push_back(object);
    }
    if (fields_.error())
      return Failure(*fields_.error());
    if (auto wrong = misread(table))
      return unreadable(*wrong, "if another dump says so, too, the types are those of another "
                                "build: mqbridge types make makes those of this one");
    return table;
  }

private:
  /// What is known of MPI_COMM_WORLD and MPI_COMM_SELF in every process, and is not so where a
  /// field is elsewhere than the known types say. The program may have renamed one of them.
  std::optional<std::string> misread(const CommunicatorTable& table) const {
    bool all_unnamed = true;
    std::size_t predefined = 0;
    for (; predefined < std::min<std::size_t>(2, table.objects.size()); ++predefined) {
      const Communicator& communicator = table.communicators[predefined];
      if (communicator.id.value != predefined)
        break; // a process that has begun with a session has neither
      const auto& object = table.objects[predefined];
      const auto flags = words_.get(object, keys_.flags);
      const std::uint64_t first = keys_.context_end ? 0 : predefined; // of a context id's halves
      if ((flags && (*flags & is_predefined) == 0) ||
          words_.get(object, keys_.context).value_or(first) != first)
        return fmt::format("the one at place {} has not the context and the flags that it always "
                           "has",
                           predefined);
      all_unnamed = all_unnamed && communicator.name.empty();
    }
    if (predefined == 2 && all_unnamed)
      return "MPI_COMM_WORLD and MPI_COMM_SELF have no names";
    return std::nullopt;
  }

  Result<std::vector<std::uint64_t>> all_slots() {
    const auto root = space_.images.find_symbol(table_symbol);
    const Field count = fields_.find_as_typed("opal_pointer_array_t", "size");
    const Words::Value at = root ? Words::Value(root->address.value) : std::nullopt;
    Words words;
    words.want(at, count);
    if (auto done = words.read(space_); !done)
      return forward(std::move(done));
    const auto size = words.get(at, count);
    if (!size || *size > wire::max_communicators)
      return unreadable(size ? fmt::format("the table has {} places", *size)
                             : "the table cannot be read");
    std::vector<std::uint64_t> slots(*size);
    std::iota(slots.begin(), slots.end(), std::uint64_t{0});
    return slots;
  }

  Result<void> read_words(const std::vector<Words::Value>& objects) {
    for (const auto& object : objects) {
      for (const Field& field : {keys_.index, keys_.context, keys_.context_end, keys_.flags,
                                 keys_.rank, keys_.local_group, keys_.name_pointer})
        words_.want(object, field);
      if (object.value_or(0) != 0 && keys_.name)
        names_.want(*object + keys_.name.offset);
    }
    if (auto done = words_.read(space_); !done)
      return done;
    for (const auto& object : objects) {
      words_.want(words_.get(object, keys_.local_group), keys_.size);
      names_.want(words_.get(object, keys_.name_pointer));
    }
    if (auto done = words_.read(space_); !done)
      return done;
    return names_.read(space_);
  }

  Words::Value size_of(const Words::Value& object) const {
    return words_.get(words_.get(object, keys_.local_group), keys_.size);
  }

  Communicator describe(const Words::Value& object, std::uint64_t slot) const {
    Communicator communicator;
    communicator.id = {slot};
    communicator.context = keys_.context_of(words_, object);
    communicator.size = as_target_int(static_cast<std::int64_t>(size_of(object).value_or(0)));
    if (const auto flags = words_.get(object, keys_.flags))
      communicator.kind =
          (*flags & is_intercommunicator) != 0 ? CommunicatorKind::inter : CommunicatorKind::intra;
    if (const auto rank = words_.get(object, keys_.rank))
      if (const auto local = as_target_int(static_cast<std::int64_t>(*rank)); local >= 0)
        communicator.local_rank = local;
    const auto name = keys_.name ? Words::Value(*object + keys_.name.offset)
                                 : words_.get(object, keys_.name_pointer);
    if (const auto* text = names_.get(name))
      communicator.name = *text;
    return communicator;
  }

  Fields fields_;
  CommunicatorKeys keys_;
  AddressSpace space_;
  Words words_;
  Texts names_{longest_name, longest_name* wire::max_communicators};
};

} // namespace

Result<std::vector<Words::Value>> objects_in(std::string_view symbol,
                                             const std::vector<std::uint64_t>& slots,
                                             Fields& fields, const AddressSpace& space) {
  std::vector<Words::Value> objects(slots.size());
  const auto root = space.images.find_symbol(symbol);
  if (!root)
    return objects;
  const int word = space.platform.pointer_size;
  const Field table = fields.find("opal_pointer_array_t", "addr", word);
  const Field count = fields.find("opal_pointer_array_t", "size", space.platform.int_size);
  const Field pointer = {0, static_cast<std::size_t>(word)};
  Words array;
  array.want(root->address.value, table);
  array.want(root->address.value, count);
  if (auto done = array.read(space); !done)
    return forward(std::move(done));
  const auto first = array.get(root->address.value, table).value_or(0);
  const auto end = array.get(root->address.value, count).value_or(0);
  const auto at = [&](std::uint64_t slot) -> Words::Value {
    if (first == 0 || slot >= end)
      return std::nullopt;
    return first + slot * static_cast<std::uint64_t>(word);
  };
  Words found;
  for (const std::uint64_t slot : slots)
    found.want(at(slot), pointer);
  if (auto done = found.read(space); !done)
    return forward(std::move(done));
  for (std::size_t i = 0; i < slots.size(); ++i)
    objects[i] = found.get(at(slots[i]), pointer);
  return objects;
}

CommunicatorKeys::CommunicatorKeys(Fields& fields) {
  constexpr int half = 8;
  const auto number = [&](std::string_view field) { return fields.find(type, field, 4); };
  index = number("c_index");
  if (index) {
    context = fields.find(type, "c_contextid", half);
    if (context) // ompi_comm_extended_cid_t: cid_base, and cid_sub behind it
      context_end = {context.end(), half};
  } else {
    index = context = number("c_contextid");
  }
  flags = number("c_flags");
  rank = number("c_my_rank");
  local_group = fields.find_as_typed(type, "c_local_group");
  size = fields.find_as_typed("ompi_group_t", "grp_proc_count");
  name_pointer = fields.find_as_typed(type, "c_name");
  if (!name_pointer)
    name = fields.find(type, "c_name", 1);
}

std::optional<std::uint64_t> CommunicatorKeys::context_of(const Words& words,
                                                          const Words::Value& object) const {
  const auto first = words.get(object, context);
  if (!context_end)
    return first;
  const auto second = words.get(object, context_end);
  if (!first || !second)
    return std::nullopt;
  constexpr int bits = 53; // a number that every reader of JSON keeps
  if (*first == 0 && *second >> 32 == 0)
    return *second;
  // The last steps of MurmurHash3 mix every bit of both into each bit.
  std::uint64_t mixed = *first * 0x9e3779b97f4a7c15 ^ *second;
  mixed = (mixed ^ mixed >> 33) * 0xff51afd7ed558ccd;
  mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53;
  mixed ^= mixed >> 33;
  return mixed >> (64 - bits) | std::uint64_t{1} << (bits - 1);
}

Result<CommunicatorTable> read_communicators(const AddressSpace& space) {
  return TableReader(space).read();
}

Result<std::vector<Words::Value>>
communicator_objects(const std::vector<Communicator>& communicators, Fields& fields,
                     const AddressSpace& space) {
  const CommunicatorKeys keys(fields);
  std::vector<std::uint64_t> slots;
  slots.reserve(communicators.size());
  for (const auto& communicator : communicators)
    slots.push_back(communicator.id.value);
  auto objects = objects_in(table_symbol, slots, fields, space);
  if (!objects)
    return objects;
  Words words;
  for (const auto& object : *objects)
    words.want(object, keys.index);
  if (auto done = words.read(space); !done)
    return forward(std::move(done));
  for (std::size_t i = 0; i < slots.size(); ++i)
    if ((*objects)[i].value_or(0) == 0 || words.get((*objects)[i], keys.index) != slots[i])
      (*objects)[i].reset();
  return objects;
}

} // namespace mqbridge::openmpi
