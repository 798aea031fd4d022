#include "host/process/structures.h"

#include "host/memory/reader.h"

#include <algorithm>
#include <array>
#include <span>

namespace mqbridge {
namespace {

constexpr std::size_t most_structures = 16 * 1024;
constexpr std::size_t most_bytes = 32 << 20;

} // namespace

const TypeField* Fields::look_up(std::string_view type, std::string_view field) {
  auto layout = images_.find_type(type);
  if (!layout) {
    if (!error_)
      error_ = std::move(layout).error();
    return nullptr;
  }
  const TypeField* found = *layout != nullptr ? (*layout)->find_field(field) : nullptr;
  return found != nullptr && found->offset <= max_structure ? found : nullptr;
}

Field Fields::find(std::string_view type, std::string_view field, int size, Field outer) {
  const TypeField* found = look_up(type, field);
  if (found == nullptr || !outer || found->offset + outer.offset > max_structure)
    return {};
  return {found->offset + outer.offset, static_cast<std::size_t>(size)};
}

Field Fields::find_as_typed(std::string_view type, std::string_view field, Field outer) {
  const TypeField* found = look_up(type, field);
  if (found == nullptr || found->size < 1 || found->size > sizeof(std::uint64_t))
    return {};
  return find(type, field, static_cast<int>(found->size), outer);
}

Result<Words> Words::of(std::span<const std::uint64_t> bases, std::initializer_list<Field> fields,
                        const AddressSpace& space) {
  Words words;
  for (const std::uint64_t base : bases)
    for (const Field& field : fields)
      words.want(base, field);
  if (auto done = words.read(space); !done)
    return forward(std::move(done));
  return words;
}

void Words::want(const Value& base, const Field& field) {
  if (base && *base != 0 && field)
    words_.try_emplace({*base + field.offset, field.size});
}

Words::Value Words::get(const Value& base, const Field& field) const {
  if (!base || !field)
    return std::nullopt;
  const auto found = words_.find({*base + field.offset, field.size});
  return found != words_.end() ? found->second : std::nullopt;
}

Result<void> Words::read(const AddressSpace& space) {
  if (words_.empty())
    return {};
  std::vector<std::array<std::byte, sizeof(std::uint64_t)>> bytes(words_.size());
  std::vector<MemoryRange> ranges;
  for (const auto& [key, word] : words_)
    ranges.push_back({{key.first}, std::span(bytes[ranges.size()]).first(key.second)});
  if (auto done = space.memory.read_ranges(ranges); !done)
    return done;
  std::size_t i = 0;
  for (auto& [key, word] : words_) {
    const MemoryRange& range = ranges[i++];
    if (range.read == range.into.size())
      word = decode_unsigned(range.into, space.platform.byte_order);
  }
  return {};
}

Result<Structures> Structures::read(const std::vector<TargetAddress>& addresses, std::size_t size,
                                    const AddressSpace& space) {
  Structures made;
  made.size_ = size;
  made.order_ = space.platform.byte_order;
  made.bytes_.resize(size * addresses.size());
  std::vector<MemoryRange> ranges;
  for (std::size_t i = 0; i < addresses.size(); ++i)
    ranges.push_back({addresses[i], std::span(made.bytes_).subspan(i * size, size)});
  if (auto done = space.memory.read_ranges(ranges); !done)
    return forward(std::move(done));
  for (const MemoryRange& range : ranges)
    made.readable_.push_back(range.read);
  return made;
}

std::size_t Structures::at_once(std::size_t size) {
  return std::clamp<std::size_t>(most_bytes / std::max<std::size_t>(size, 1), 1, most_structures);
}

Words::Value Structures::value(std::size_t index, const Field& field) const {
  if (!field || readable_[index] < field.end())
    return std::nullopt;
  return decode_unsigned(std::span(bytes_).subspan(index * size_ + field.offset, field.size),
                         order_);
}

} // namespace mqbridge
