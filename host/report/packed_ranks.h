#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace mqbridge {

/// Ranks in the form in which a report's page has them: those with the same keys and the same
/// lengths of lists are one kind, of which each value that all have alike stands once. So ten
/// thousand equal ranks take little more room than one.
class PackedRanks {
public:
  using Json = nlohmann::ordered_json;

  /// Adds the next rank.
  void add(Json rank);

  /// A list of {template, indices, columns: [{path, values}]}: the first rank of the kind, the
  /// places of the kind's ranks among all, and the values that are not alike in all of them, in the
  /// order of `indices`.
  Json json() &&;

private:
  struct Column {
    std::size_t leaf = 0;
    Json values = Json::array();
  };
  struct Kind {
    Json first;
    std::vector<Json> leaves; ///< of the first rank
    std::vector<std::size_t> indices;
    std::vector<Column> columns;
    std::vector<std::size_t> column_of; ///< by leaf; a leaf with one value has none
  };

  static void vary(Kind& kind, const std::vector<Json>& leaves);

  std::vector<Kind> kinds_;
  std::unordered_map<std::string, std::size_t> by_shape_;
  std::size_t count_ = 0;
};

} // namespace mqbridge
