#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The kind of thing that a name stands for: in C a tag and a typedef may have the same name.
enum class NameKind : std::uint8_t { type_definition, structure, union_, enumeration, base };

/// A name that somebody looks for: "list_t", "struct list".
struct AskedName {
  std::string_view name;           ///< as the DWARF has it
  std::span<const NameKind> kinds; ///< the kinds that it may have, in the order of the search

  explicit AskedName(std::string_view spelling);
};

/// Where a type is defined, in 64 bits: the offset of its DIE, whether that is in .debug_info (else
/// .debug_types), and the number of its file among those over which the DWARF is spread
/// (DwarfParts::number_of).
struct TypePlace {
  static constexpr unsigned offset_bits = 47;
  static constexpr std::uint64_t max_offset = (std::uint64_t{1} << offset_bits) - 1;
  static constexpr std::uint64_t max_files = std::uint64_t{1} << (63 - offset_bits);
  /// The main file and its alternate one. Split files are found anew in each run.
  static constexpr std::uint64_t lasting_files = 2;

  std::uint64_t packed = 0;

  /// nullopt: the numbers do not fit.
  static std::optional<TypePlace> pack(std::uint64_t file, bool in_info, std::uint64_t offset);
  std::uint64_t offset() const { return packed & max_offset; }
  bool in_info() const { return (packed >> offset_bits & 1) != 0; }
  std::uint64_t file() const { return packed >> (offset_bits + 1); }
};

/// A name, as its hash, and one of the places where it is defined.
struct NamedPlace {
  std::uint64_t name = 0;
  TypePlace place;
};

std::uint64_t name_hash(NameKind kind, std::string_view name);

/// Names of the types at the top of each unit of one file's DWARF. It holds hashes, not names: so
/// it can be read at once, and a caller has to compare the name at a place. Its data comes from a
/// process that read a foreign file, and is checked here.
class TypeNames {
public:
  /// Each unit that includes a header has the header's types: a few candidates are enough to find a
  /// complete one.
  static constexpr std::size_t candidates_per_name = 4;

  /// `bytes`: NamedPlaces. nullopt: they are malformed, not sorted by name, or too many for a name.
  static std::optional<TypeNames> from(std::vector<std::byte> bytes);

  /// Candidates in file order: several units may define one name. Empty: none. Valid as long as
  /// this.
  std::span<const NamedPlace> find(NameKind kind, std::string_view name) const;

  /// Whether all places are in files that the next run finds again.
  bool lasting() const { return lasting_; }

  /// The bytes it was made from, for a record of this host if the places are lasting.
  std::span<const std::byte> bytes() const { return bytes_; }

private:
  // They stay in the buffer into which they were read: there are millions.
  std::span<const NamedPlace> places() const {
    return {reinterpret_cast<const NamedPlace*>(bytes_.data()), bytes_.size() / sizeof(NamedPlace)};
  }

  std::vector<std::byte> bytes_; // NamedPlaces by name, then in file order
  bool lasting_ = true;
};

} // namespace mqbridge
