#pragma once

#include "host/memory/address.h"
#include "host/mpi/read_ahead.h"
#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Where the links of a doubly linked ring are. The item at its head belongs to the list itself:
/// the last item's next one, and the first one's previous one.
struct ListLinks {
  Field head;           ///< of a list: its own item
  Field next, previous; ///< of an item
  Field length = {};    ///< of a list: how many items it says that it has; not always known

  explicit operator bool() const { return head && next && previous; }
  Field first(Field list) const { return {list.offset + head.offset + next.offset, next.size}; }
  Field length_of(Field list) const { return {list.offset + length.offset, length.size}; }
  Field last(Field list) const {
    return {list.offset + head.offset + previous.offset, previous.size};
  }
};

/// A list, by the contents of its own item.
struct ItemList {
  std::uint64_t head = 0; ///< the address of its own item
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t length = 0; ///< a hint, which may be wrong, or unknown_length

  bool empty() const { return first == head; }
};

/// The contents of one item. Its bytes are valid during the call.
class ItemBytes {
public:
  ItemBytes(TargetAddress address, std::span<const std::byte> bytes, ByteOrder order)
      : address_(address), bytes_(bytes), order_(order) {}

  TargetAddress address() const { return address_; }
  /// nullopt: not known, or not readable.
  Words::Value value(const Field& field) const;

private:
  TargetAddress address_;
  std::span<const std::byte> bytes_;
  ByteOrder order_;
};

/// The answer of a TakeItem that wants no more items.
inline constexpr std::string_view no_more = "";

/// Takes an item of the list at that index. Returning a text ends that list: the text says why this
/// cannot be an item, or is `no_more`.
using TakeItem = std::function<std::optional<std::string>(std::size_t list, const ItemBytes& item)>;

/// Walks several lists at the same time: one read brings the next item of each, and for long lists
/// the memory around it, as long as more items are expected (read_ahead.h). It believes a list only
/// as long as next and previous agree, so that it meets no item twice. A damaged list ends early,
/// and the others go on. Returns for each list why it is not whole: the process was changing it, or
/// it is damaged. Errors: those of Memory.
Result<std::vector<std::optional<std::string>>>
walk_lists(std::span<const ItemList> lists, const ListLinks& links, std::size_t item_size,
           const AddressSpace& space, const TakeItem& take);

} // namespace mqbridge
