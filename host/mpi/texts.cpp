#include "host/mpi/texts.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace mqbridge {
namespace {

/// Most texts end within this many bytes; longer ones are read again, in larger pieces.
constexpr std::size_t first_bytes_of_text = 128;
constexpr std::size_t growth = 8;
constexpr std::size_t bytes_at_once = std::size_t{1} << 20;

} // namespace

void Texts::want(const Words::Value& address) {
  if (address && *address != 0 && texts_.try_emplace(*address).second)
    wanted_.push_back(*address);
}

const std::string* Texts::get(const Words::Value& address) const {
  if (!address)
    return nullptr;
  const auto found = texts_.find(*address);
  return found != texts_.end() && found->second ? &*found->second : nullptr;
}

Result<void> Texts::read(const AddressSpace& space) {
  std::ranges::sort(wanted_);
  Pending pending = std::exchange(wanted_, {});
  for (std::size_t size = std::min(first_bytes_of_text, longest_); !pending.empty();
       size = std::min(size * growth, longest_)) {
    if (auto done = read_piece(pending, size, space); !done)
      return done;
    if (size == longest_)
      break;
  }
  return {};
}

/// Reads the first `size` bytes of each text; leaves the longer texts in `pending`.
Result<void> Texts::read_piece(Pending& pending, std::size_t size, const AddressSpace& space) {
  const std::size_t at_once = std::max<std::size_t>(bytes_at_once / size, 1);
  Pending longer;
  for (std::size_t first = 0; first < pending.size(); first += at_once) {
    const auto batch = std::span(pending).subspan(first, std::min(at_once, pending.size() - first));
    std::vector<std::byte> bytes(batch.size() * size);
    std::vector<MemoryRange> ranges;
    for (std::size_t i = 0; i < batch.size(); ++i)
      ranges.push_back({{batch[i]}, std::span(bytes).subspan(i * size, size)});
    if (auto done = space.memory.read_ranges(ranges); !done)
      return done;
    for (const MemoryRange& range : ranges) {
      const char* const text = reinterpret_cast<const char*>(range.into.data());
      const std::size_t length = ::strnlen(text, range.read);
      if (length == size && size < longest_)
        longer.push_back(range.address.value);
      else if (length < range.read && length <= left_) {
        left_ -= length;
        texts_[range.address.value] = std::string(text, length);
      }
    }
  }
  pending = std::move(longer);
  return {};
}

} // namespace mqbridge
