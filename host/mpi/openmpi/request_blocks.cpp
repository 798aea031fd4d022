#include "host/mpi/openmpi/request_blocks.h"

#include "host/mpi/item_lists.h"
#include "host/mpi/openmpi/ob1_layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// A process has fewer requests: a list that states more is corrupt.
constexpr std::uint64_t most_requests = 100'000'000;

/// The places of the fields of an opal_free_list_t.
struct BlockLayout {
  Field request_size, alignment, class_of, allocated, most, of_one_block, blocks;
  std::uint64_t block_header = 0; ///< bytes before the requests of a block
  ListLinks links;

  BlockLayout(Fields& fields, const AddressSpace& space)
      : links(opal_list_links(fields, space.platform)) {
    constexpr std::string_view type = "opal_free_list_t";
    request_size = fields.find_as_typed(type, "fl_frag_size");
    alignment = fields.find_as_typed(type, "fl_frag_alignment");
    class_of = fields.find_as_typed(type, "fl_frag_class");
    allocated = fields.find_as_typed(type, "fl_num_allocated");
    most = fields.find_as_typed(type, "fl_max_to_alloc");
    of_one_block = fields.find_as_typed(type, "fl_num_per_alloc");
    blocks = fields.find(type, "fl_allocations", 1);
    if (const auto item = space.images.find_type("opal_free_list_item_t"); item && *item != nullptr)
      block_header = std::min((*item)->size, Fields::max_structure);
  }
  bool known() const {
    return request_size && alignment && class_of && allocated && of_one_block && blocks &&
           block_header > 0 && links;
  }
};

std::uint64_t aligned(std::uint64_t value, std::uint64_t alignment) {
  return alignment > 1 ? (value + alignment - 1) / alignment * alignment : value;
}

/// The counts of requests that a free list states.
struct Counts {
  std::uint64_t all = 0;
  std::uint64_t per_block = 0;
  std::uint64_t most = 0; ///< that it may make; 0, or a number that none reaches: no limit
};

/// The first block has a size of its own (pml_ob1_free_list_num). The debug DLL takes it to have
/// only as many requests as full blocks leave. If the list may make no more requests, the last
/// block may be smaller, too.
void size_first_block(RequestBlocks& found, const Counts& counts, std::string_view symbol) {
  const std::uint64_t others = (found.blocks.size() - 1) * counts.per_block;
  const bool last_is_full = found.blocks.size() == 1 || counts.all != counts.most;
  if (others >= counts.all || !last_is_full) {
    found.damage = fmt::format("how many requests the blocks of {} have is not known", symbol);
    return;
  }
  const std::uint64_t first = counts.all - others;
  found.blocks.front().count = first;
  if (counts.per_block == 0)
    return;
  const std::uint64_t rest = counts.all % counts.per_block;
  const std::uint64_t for_dll = counts.all <= counts.per_block ? counts.all
                                : rest == 0                    ? counts.per_block
                                                               : rest;
  found.unseen_by_dll = first - std::min(first, for_dll);
}

} // namespace

Result<RequestBlocks> read_request_blocks(std::string_view symbol, Fields& fields,
                                          const AddressSpace& space) {
  RequestBlocks found;
  const auto root = space.images.find_symbol(symbol);
  const BlockLayout layout(fields, space);
  if (!root || !layout.known()) {
    found.damage = fmt::format("{} or its type is not known", symbol);
    return found;
  }
  const Words::Value list = root->address.value;
  const Field first = layout.links.first(layout.blocks);
  const Field last = layout.links.last(layout.blocks);
  Words words;
  for (const Field& field : {layout.request_size, layout.alignment, layout.class_of,
                             layout.allocated, layout.most, layout.of_one_block, first, last})
    words.want(list, field);
  if (auto done = words.read(space); !done)
    return forward(std::move(done));
  const auto value = [&](const Field& field) { return words.get(list, field).value_or(0); };
  const std::uint64_t alignment = value(layout.alignment);
  const std::uint64_t per_block = value(layout.of_one_block);
  const std::uint64_t all = value(layout.allocated);
  found.class_of = value(layout.class_of);
  if (value(layout.request_size) > Fields::max_structure || alignment > Fields::max_structure ||
      all > most_requests || per_block > most_requests) {
    found.damage = fmt::format("{} is damaged", symbol);
    return found;
  }
  found.stride = aligned(value(layout.request_size), alignment);
  const TakeItem take = [&](std::size_t, const ItemBytes& item) -> std::optional<std::string> {
    if (found.blocks.size() == all)
      return "there are more blocks than requests";
    found.blocks.push_back(
        {{aligned(item.address().value + layout.block_header, alignment)}, per_block});
    return std::nullopt;
  };
  const ItemList blocks = {root->address.value + layout.blocks.offset + layout.links.head.offset,
                           value(first), value(last)};
  auto ends =
      walk_lists({&blocks, 1}, layout.links,
                 std::max(layout.links.next.end(), layout.links.previous.end()), space, take);
  if (!ends)
    return forward(std::move(ends));
  if (ends->front())
    found.damage = fmt::format("{} is damaged or being changed: {}", symbol, *ends->front());
  else if (!found.blocks.empty())
    size_first_block(found, {all, per_block, value(layout.most)}, symbol);
  return found;
}

} // namespace mqbridge::openmpi
