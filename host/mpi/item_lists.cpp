#include "host/mpi/item_lists.h"

#include "host/memory/reader.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// Lists that are walked at the same time: as many as one burst of reads is good for.
constexpr std::size_t side_by_side = 512;

/// The place that the walk has reached in one list.
struct Walker {
  std::size_t list = 0;
  std::uint64_t item = 0;
  std::uint64_t previous = 0;
};

class ListWalk {
public:
  ListWalk(std::span<const ItemList> lists, const ListLinks& links, std::size_t item_size,
           const AddressSpace& space, const TakeItem& take)
      : lists_(lists), links_(links), item_size_(item_size), space_(space), take_(take),
        ends_(lists.size()), reader_(space.memory, item_size, length_of(lists)) {}

  Result<std::vector<std::optional<std::string>>> run() {
    for (std::size_t next = 0; next < lists_.size() || !walkers_.empty();) {
      for (; next < lists_.size() && walkers_.size() < side_by_side; ++next)
        if (!lists_[next].empty())
          walkers_.push_back({next, lists_[next].first, lists_[next].head});
        else if (lists_[next].last != lists_[next].head)
          ends_[next] = "its ends do not agree";
      if (auto done = step(); !done)
        return forward(std::move(done));
    }
    return std::move(ends_);
  }

private:
  static std::uint64_t length_of(std::span<const ItemList> lists) {
    constexpr std::uint64_t most = 100'000'000; // a list that states more is damaged
    std::uint64_t length = 0;
    if (std::ranges::any_of(lists, [](const ItemList& list) {
          return !list.empty() && list.length == unknown_length;
        }))
      return unknown_length;
    for (const ItemList& list : lists)
      length = std::min(length + std::min(list.length, most), most);
    return length;
  }

  /// Reads the next item of each list.
  Result<void> step() {
    bytes_.resize(walkers_.size() * item_size_);
    ranges_.clear();
    for (std::size_t i = 0; i < walkers_.size(); ++i)
      ranges_.push_back(
          {{walkers_[i].item}, std::span(bytes_).subspan(i * item_size_, item_size_)});
    if (auto done = reader_.read(ranges_); !done)
      return done;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < walkers_.size(); ++i)
      if (goes_on(walkers_[i], ranges_[i]))
        walkers_[kept++] = walkers_[i];
    walkers_.resize(kept);
    return {};
  }

  bool goes_on(Walker& walker, const MemoryRange& range) {
    const ItemList& list = lists_[walker.list];
    const ItemBytes item(range.address, range.into.first(range.read), space_.platform.byte_order);
    const auto next = item.value(links_.next);
    const auto previous = item.value(links_.previous);
    if (range.read < item_size_ || !next || !previous)
      return end(walker, fmt::format("its item at {:#x} cannot be read", walker.item));
    if (*previous != walker.previous)
      return end(walker,
                 fmt::format("at {:#x} it does not lead back to where it came from", walker.item));
    if (auto damage = take_(walker.list, item))
      return end(walker, std::move(*damage));
    if (*next == list.head) {
      if (walker.item != list.last)
        return end(walker, fmt::format("its last item is not at {:#x}", list.last));
      return false;
    }
    walker.previous = walker.item;
    walker.item = *next;
    return true;
  }

  bool end(const Walker& walker, std::string damage) {
    if (damage != no_more)
      ends_[walker.list] = std::move(damage);
    return false;
  }

  std::span<const ItemList> lists_;
  const ListLinks& links_;
  std::size_t item_size_;
  AddressSpace space_;
  const TakeItem& take_;
  std::vector<std::optional<std::string>> ends_;
  ReadAhead reader_;
  std::vector<Walker> walkers_;
  std::vector<std::byte> bytes_;
  std::vector<MemoryRange> ranges_;
};

} // namespace

Words::Value ItemBytes::value(const Field& field) const {
  if (!field || bytes_.size() < field.end())
    return std::nullopt;
  return decode_unsigned(bytes_.subspan(field.offset, field.size), order_);
}

Result<std::vector<std::optional<std::string>>>
walk_lists(std::span<const ItemList> lists, const ListLinks& links, std::size_t item_size,
           const AddressSpace& space, const TakeItem& take) {
  return ListWalk(lists, links, item_size, space, take).run();
}

} // namespace mqbridge
