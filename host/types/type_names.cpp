#include "host/types/type_names.h"

#include "host/disk/checksum.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mqbridge {
namespace {

struct Keyword {
  std::string_view prefix;
  NameKind kind;
};

constexpr std::array keywords = {Keyword{"struct ", NameKind::structure},
                                 Keyword{"union ", NameKind::union_},
                                 Keyword{"enum ", NameKind::enumeration}};

constexpr std::array kinds_without_keyword = {NameKind::type_definition, NameKind::structure,
                                              NameKind::union_, NameKind::enumeration,
                                              NameKind::base};

} // namespace

AskedName::AskedName(std::string_view spelling) : name(spelling), kinds(kinds_without_keyword) {
  for (const auto& keyword : keywords) {
    if (!spelling.starts_with(keyword.prefix))
      continue;
    name = spelling.substr(keyword.prefix.size());
    kinds = {&keyword.kind, 1};
    return;
  }
}

std::optional<TypePlace> TypePlace::pack(std::uint64_t file, bool in_info, std::uint64_t offset) {
  if (offset > max_offset || file >= max_files)
    return std::nullopt;
  return TypePlace{offset | std::uint64_t{in_info} << offset_bits | file << (offset_bits + 1)};
}

std::uint64_t name_hash(NameKind kind, std::string_view name) {
  return checksum(std::as_bytes(std::span(name))) + static_cast<std::uint64_t>(kind);
}

std::optional<TypeNames> TypeNames::from(std::vector<std::byte> bytes) {
  if (bytes.size() % sizeof(NamedPlace) != 0)
    return std::nullopt;
  TypeNames names;
  names.bytes_ = std::move(bytes);
  const auto places = names.places();
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i > 0 && places[i - 1].name > places[i].name)
      return std::nullopt;
    if (i >= candidates_per_name && places[i - candidates_per_name].name == places[i].name)
      return std::nullopt;
    names.lasting_ = names.lasting_ && places[i].place.file() < TypePlace::lasting_files;
  }
  return names;
}

std::span<const NamedPlace> TypeNames::find(NameKind kind, std::string_view name) const {
  const auto wanted = name_hash(kind, name);
  const auto places = this->places();
  const auto first =
      std::lower_bound(places.begin(), places.end(), wanted,
                       [](const NamedPlace& a, std::uint64_t hash) { return a.name < hash; });
  const auto last =
      std::find_if(first, places.end(), [&](const NamedPlace& a) { return a.name != wanted; });
  return {first, last};
}

} // namespace mqbridge
