#include "host/mpi/mpich/mpich_lists.h"

#include "host/memory/reader.h"

#include <unordered_set>

namespace mqbridge::mpich {
namespace {

/// As many operations as a walk takes by default.
constexpr std::size_t max_elements = 10'000'000;

class ListReader {
public:
  ListReader(const ListLayout& layout, const AddressSpace& space)
      : layout_(layout), memory_(space.memory), order_(space.platform.byte_order),
        pointer_size_(static_cast<std::size_t>(space.platform.pointer_size)),
        element_(layout.element_size()) {}

  Result<std::vector<Listed>> run(TargetAddress head) {
    auto next = pointer_at(head);
    if (next && *next && layout_.head_is_indirect)
      next = pointer_at(**next);
    std::vector<Listed> list;
    std::unordered_set<std::uint64_t> seen;
    while (next && *next && **next && list.size() < max_elements &&
           seen.insert((*next)->value).second)
      next = element_at(**next, list);
    if (!next)
      return forward(std::move(next));
    return list;
  }

private:
  using Address = std::optional<TargetAddress>; ///< nullopt: not readable

  Result<Address> pointer_at(TargetAddress address) {
    const auto bytes = std::span(pointer_).first(pointer_size_);
    auto read = memory_.read(address, bytes);
    if (!read)
      return forward(std::move(read));
    if (*read < pointer_size_)
      return Address();
    return Address(TargetAddress{decode_unsigned(bytes, order_)});
  }

  /// Adds the element to `list`; returns the address of the next one.
  Result<Address> element_at(TargetAddress address, std::vector<Listed>& list) {
    auto read = memory_.read(address, element_);
    if (!read)
      return forward(std::move(read));
    if (*read < element_.size())
      return Address();
    const TargetAddress request =
        layout_.request ? TargetAddress{unsigned_at(layout_.request)} : address;
    list.push_back({request, static_cast<std::int64_t>(unsigned_at(layout_.context)),
                    signed_at(layout_.tag), signed_at(layout_.rank)});
    return Address(TargetAddress{unsigned_at(layout_.next)});
  }

  std::span<const std::byte> bytes_of(const Field& field) const {
    return std::span(element_).subspan(field.offset, field.size);
  }
  std::uint64_t unsigned_at(const Field& field) const {
    return decode_unsigned(bytes_of(field), order_);
  }
  std::int64_t signed_at(const Field& field) const {
    return decode_signed(bytes_of(field), order_);
  }

  const ListLayout& layout_;
  Memory& memory_;
  ByteOrder order_;
  std::size_t pointer_size_;
  std::vector<std::byte> element_;
  std::array<std::byte, sizeof(std::uint64_t)> pointer_{};
};

} // namespace

Result<std::vector<Listed>> read_list(const ListLayout& layout, const AddressSpace& space) {
  if (!layout)
    return std::vector<Listed>();
  const auto head = space.images.find_symbol(layout.head);
  if (!head)
    return std::vector<Listed>();
  return ListReader(layout, space).run(head->address);
}

} // namespace mqbridge::mpich
