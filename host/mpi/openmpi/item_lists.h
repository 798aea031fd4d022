#pragma once

#include "host/memory/address.h"
#include "host/mpi/structures.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::openmpi {

/// Where the links of an opal_list_t are (opal/class/opal_list.h). The item at its head belongs to
/// the list itself: the last item's next one, and the first one's previous one.
struct ListLinks {
  Field head;           ///< of a list: its own item
  Field next, previous; ///< of an item
  Field length;         ///< of a list: how many items it says that it has; not always known

  ListLinks(Fields& fields, const Platform& platform);
  explicit operator bool() const { return head && next && previous; }
  Field first(Field list) const { return {list.offset + head.offset + next.offset, next.size}; }
  Field length_of(Field list) const { return {list.offset + length.offset, length.size}; }
  Field last(Field list) const {
    return {list.offset + head.offset + previous.offset, previous.size};
  }
};

/// A list by what its own item says.
struct ItemList {
  std::uint64_t head = 0; ///< the address of its own item
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t length = 0; ///< a hint, which may be wrong

  bool empty() const { return first == head; }
};

/// What one item says. Its bytes are valid during the call.
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

/// What a TakeItem says of an item after which it wants no more.
inline constexpr std::string_view no_more = "";

/// Takes an item of the list at that index. A text ends that list: why the item cannot be one, or
/// `no_more`.
using TakeItem = std::function<std::optional<std::string>(std::size_t list, const ItemBytes& item)>;

/// Walks lists side by side: one read brings the next item of each, and of long lists the memory
/// around it, as long as the items are there (read_ahead.h). It believes a list only as far
/// as next and previous agree, so that it meets no item twice; a list that leads into the wild ends
/// there, and the others go on. For each list why it is not whole: the process changes it, or it is
/// broken. Errors: those of Memory.
Result<std::vector<std::optional<std::string>>>
walk_lists(std::span<const ItemList> lists, const ListLinks& links, std::size_t item_size,
           const AddressSpace& space, const TakeItem& take);

} // namespace mqbridge::openmpi
