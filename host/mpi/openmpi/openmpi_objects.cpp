#include "host/mpi/openmpi/openmpi_objects.h"

namespace mqbridge::openmpi {

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

Result<std::vector<Words::Value>>
communicator_objects(const std::vector<Communicator>& communicators, Fields& fields,
                     const AddressSpace& space) {
  constexpr int context_size = 4;
  const Field context = fields.find("ompi_communicator_t", "c_contextid", context_size);
  std::vector<std::uint64_t> slots;
  slots.reserve(communicators.size());
  for (const auto& communicator : communicators)
    slots.push_back(communicator.id.value);
  auto objects = objects_in("ompi_mpi_communicators", slots, fields, space);
  if (!objects)
    return objects;
  Words words;
  for (const auto& object : *objects)
    words.want(object, context);
  if (auto done = words.read(space); !done)
    return forward(std::move(done));
  for (std::size_t i = 0; i < slots.size(); ++i)
    if ((*objects)[i].value_or(0) == 0 || words.get((*objects)[i], context) != slots[i])
      (*objects)[i].reset();
  return objects;
}

} // namespace mqbridge::openmpi
