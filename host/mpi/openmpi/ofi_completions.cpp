#include "host/mpi/openmpi/ofi_completions.h"

#include "host/process/structures.h"

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

namespace mqbridge::openmpi {
namespace {

constexpr std::uint64_t word = 8;
constexpr std::size_t module_bytes = 1024;
constexpr std::size_t context_bytes = 4 * word; // two endpoints and the queue, in any order
constexpr Field class_of_fid{0, word};          // of each object of libfabric (struct fid)
constexpr std::uint64_t class_of_queue = 14;    // FI_CLASS_CQ (rdma/fabric.h)
constexpr std::size_t queue_bytes = 1024;       // of struct util_cq, from its beginning
/// The ring of its entries (OFI_DECLARE_CIRQUE, include/ofi_mem.h).
struct Ring {
  static constexpr Field size{0, 8}, mask{8, 8}, taken_out{16, 8}, put_in{24, 8};
  static constexpr std::size_t bytes = 4 * word;
};

/// Structures of one size, and where they are.
struct Found {
  std::vector<TargetAddress> addresses;
  Structures values;

  /// Their words that may be addresses of others, each once.
  std::vector<TargetAddress> pointers(std::size_t bytes) const {
    constexpr std::uint64_t least = 0x10000;
    std::set<TargetAddress> all;
    for (std::size_t i = 0; i < addresses.size(); ++i)
      for (std::uint64_t at = 0; at + word <= bytes; at += word)
        if (const auto value = values.value(i, {at, word}).value_or(0);
            value >= least && value % word == 0)
          all.insert({value});
    return {all.begin(), all.end()};
  }
};

Result<Found> find(std::vector<TargetAddress> addresses, std::size_t bytes,
                   const AddressSpace& space) {
  auto values = Structures::read(addresses, bytes, space);
  if (!values)
    return forward(std::move(values));
  return Found{std::move(addresses), std::move(*values)};
}

bool is_ring(const Structures& structures, std::size_t index) {
  const auto value = [&](const Field& field) { return structures.value(index, field).value_or(0); };
  return std::has_single_bit(value(Ring::size)) && value(Ring::size) > 1 &&
         value(Ring::mask) == value(Ring::size) - 1 &&
         value(Ring::put_in) - value(Ring::taken_out) <= value(Ring::size);
}

} // namespace

Result<std::optional<std::int64_t>> read_ofi_completions(const ResolvedSymbol& module,
                                                         const AddressSpace& space) {
  const auto bytes_of_module = std::min<std::uint64_t>(module.size, module_bytes);
  auto modules = find({module.address}, bytes_of_module, space);
  if (!modules)
    return forward(std::move(modules));
  auto contexts = find(modules->pointers(bytes_of_module), context_bytes, space);
  if (!contexts)
    return forward(std::move(contexts));
  auto objects = find(contexts->pointers(context_bytes), word, space);
  if (!objects)
    return forward(std::move(objects));
  std::vector<TargetAddress> of_queues;
  for (std::size_t i = 0; i < objects->addresses.size(); ++i)
    if (objects->values.value(i, class_of_fid) == class_of_queue)
      of_queues.push_back(objects->addresses[i]);
  auto queues = find(std::move(of_queues), queue_bytes, space);
  if (!queues)
    return forward(std::move(queues));
  auto rings = find(queues->pointers(queue_bytes), Ring::bytes, space);
  if (!rings)
    return forward(std::move(rings));
  std::optional<std::int64_t> completions;
  for (std::size_t i = 0; i < rings->addresses.size(); ++i)
    if (is_ring(rings->values, i)) {
      if (completions)
        return std::optional<std::int64_t>();
      completions = static_cast<std::int64_t>(*rings->values.value(i, Ring::put_in));
    }
  return completions;
}

} // namespace mqbridge::openmpi
