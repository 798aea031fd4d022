#pragma once

#include "host/image/dwarf_parts.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mqbridge {

/// What a name names: C keeps tags apart from typedefs, and `struct X` from nothing but its
/// spelling.
enum class NameKind : std::uint8_t { type_definition, structure, union_, enumeration, base };

/// Names of the types at the top of each unit of one DwarfParts. Declarations are not listed.
class DwarfIndex {
public:
  /// Reads every unit once, those of the alternate file that are imported with them. A fault ends
  /// it early; what was read stays.
  void build(DwarfParts& parts);

  /// Candidates in file order: several units may define one name. Empty: none.
  const std::vector<DiePlace>& find(NameKind kind, std::string_view name) const;

private:
  void add_unit(const DwarfDie& unit, DwarfFile& main);
  void add(const DwarfDie& die);

  struct Key {
    NameKind kind;
    std::string_view name;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string_view>()(key.name) * 5 + static_cast<std::size_t>(key.kind);
    }
  };
  std::chrono::steady_clock::time_point deadline_;
  std::set<DiePlace> imported_;       // met so far
  std::vector<DiePlace> to_be_added_; // of those, not read yet
  // Names stay in libdwarf's memory as long as the file.
  std::unordered_map<Key, std::vector<DiePlace>, KeyHash> places_;
};

} // namespace mqbridge
