#include "host/mpi/openmpi/openmpi_process.h"
#include "host/mpi/structures.h"

#include <array>
#include <string_view>

namespace mqbridge::openmpi {
namespace {

/// Requests of a process are fewer: what states more is corrupt, or not initialised.
constexpr std::uint64_t most_items = 100'000'000;

constexpr std::array<std::string_view, 2> lists = {"mca_pml_base_send_requests",
                                                   "mca_pml_base_recv_requests"};

} // namespace

Result<std::optional<QueueExtent>> queue_extent(const AddressSpace& space) {
  Fields fields(space.images);
  const auto allocated = fields.find_as_typed("opal_free_list_t", "fl_num_allocated");
  const auto item_size = fields.find_as_typed("opal_free_list_t", "fl_frag_size");
  if (fields.error())
    return Failure(*fields.error());
  std::array<Words::Value, lists.size()> addresses;
  Words words;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (const auto symbol = space.images.find_symbol(lists[i]))
      addresses[i] = symbol->address.value;
    words.want(addresses[i], allocated);
    words.want(addresses[i], item_size);
  }
  if (auto done = words.read(space); !done)
    return forward(std::move(done));
  QueueExtent all;
  for (const auto& address : addresses) {
    const auto items = words.get(address, allocated);
    const auto size = words.get(address, item_size);
    if (!items || !size || *items > most_items || *size > Fields::max_structure)
      return std::nullopt;
    all.items += *items;
    all.bytes += *items * *size;
  }
  return all;
}

} // namespace mqbridge::openmpi
