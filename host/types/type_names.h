#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {

/// What a name names: C keeps tags apart from typedefs, and `struct X` from nothing but its
/// spelling.
enum class NameKind : std::uint8_t { type_definition, structure, union_, enumeration, base };

/// What somebody asks for: "list_t", "struct list".
struct AskedName {
  std::string_view name;           ///< as the DWARF has it
  std::span<const NameKind> kinds; ///< what it may be, in the order in which it is looked for

  explicit AskedName(std::string_view spelling);
};

/// Where a type is defined, in 64 bits: the offset of its DIE, whether that is in .debug_info (else
/// .debug_types), and in which of the files that the DWARF is spread over (DwarfParts::number_of).
struct TypePlace {
  static constexpr unsigned offset_bits = 47;
  static constexpr std::uint64_t max_offset = (std::uint64_t{1} << offset_bits) - 1;
  static constexpr std::uint64_t max_files = std::uint64_t{1} << (63 - offset_bits);
  /// The main file and its alternate one. Split ones are looked for by each run.
  static constexpr std::uint64_t lasting_files = 2;

  std::uint64_t packed = 0;

  /// nullopt: it does not fit.
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

/// Names of the types at the top of each unit of one file's DWARF. Holds hashes, not names: it is
/// small enough to be read at once, and whoever follows a place compares the name that is there.
/// What it is made of comes from a process that read a foreign file: it is checked here.
class TypeNames {
public:
  /// A header's types are in every unit that includes it: a few candidates are enough to find a
  /// complete one.
  static constexpr std::size_t candidates_per_name = 4;

  /// `bytes`: NamedPlaces. nullopt: they are not, are not sorted by name, or a name has too many.
  static std::optional<TypeNames> from(std::vector<std::byte> bytes);

  /// Candidates in file order: several units may define one name. Empty: none. Valid as long as
  /// this.
  std::span<const NamedPlace> find(NameKind kind, std::string_view name) const;

  /// All places are in files that the next run finds again.
  bool lasting() const { return lasting_; }

  /// What it was made from. For a record of this host, if they are lasting.
  std::span<const std::byte> bytes() const { return bytes_; }

private:
  // Where they were read into: there are millions.
  std::span<const NamedPlace> places() const {
    return {reinterpret_cast<const NamedPlace*>(bytes_.data()), bytes_.size() / sizeof(NamedPlace)};
  }

  std::vector<std::byte> bytes_; // NamedPlaces by name, then in file order
  bool lasting_ = true;
};

} // namespace mqbridge
