#include "host/report/packed_ranks.h"

#include <limits>
#include <utility>

namespace mqbridge {
namespace {

using Json = PackedRanks::Json;

constexpr std::size_t no_column = std::numeric_limits<std::size_t>::max();

/// Calls `use(leaf, path)` for each value that holds no others, in order.
template <class Use>
void each_leaf(const Json& json, Json& path, const Use& use) {
  if (!json.is_structured() || json.empty())
    return use(json, path);
  std::size_t index = 0;
  for (auto member = json.begin(); member != json.end(); ++member, ++index) {
    path.push_back(json.is_object() ? Json(member.key()) : Json(index));
    each_leaf(*member, path, use);
    path.erase(path.size() - 1);
  }
}

/// Keys and lengths, without values: equal shapes have equal paths to their leaves.
void add_shape(const Json& json, std::string& shape) {
  if (json.is_object()) {
    shape += '{';
    for (auto member = json.begin(); member != json.end(); ++member) {
      shape.append(member.key()).append(1, '\0');
      add_shape(*member, shape);
    }
    shape += '}';
  } else if (json.is_array()) {
    shape += '[';
    for (const Json& element : json)
      add_shape(element, shape);
    shape += ']';
  } else {
    shape += '.';
  }
}

} // namespace

void PackedRanks::add(Json rank) {
  std::string shape;
  add_shape(rank, shape);
  std::vector<Json> leaves;
  Json path = Json::array();
  each_leaf(rank, path, [&](const Json& leaf, const Json&) { leaves.push_back(leaf); });
  const auto [known, is_new] = by_shape_.try_emplace(std::move(shape), kinds_.size());
  if (is_new) {
    std::vector<std::size_t> none(leaves.size(), no_column);
    kinds_.push_back({std::move(rank), std::move(leaves), {}, {}, std::move(none)});
  } else {
    vary(kinds_[known->second], leaves);
  }
  kinds_[known->second].indices.push_back(count_++);
}

void PackedRanks::vary(Kind& kind, const std::vector<Json>& leaves) {
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    std::size_t& column = kind.column_of[leaf];
    if (column == no_column && leaves[leaf] == kind.leaves[leaf])
      continue;
    if (column == no_column) {
      column = kind.columns.size();
      kind.columns.push_back({leaf, Json::array()});
      for (std::size_t i = 0; i < kind.indices.size(); ++i)
        kind.columns.back().values.push_back(kind.leaves[leaf]);
    }
    kind.columns[column].values.push_back(leaves[leaf]);
  }
}

PackedRanks::Json PackedRanks::json() && {
  Json all = Json::array();
  for (Kind& kind : kinds_) {
    std::vector<Json> paths(kind.columns.size());
    std::size_t leaf = 0;
    Json path = Json::array();
    each_leaf(kind.first, path, [&](const Json&, const Json& where) {
      if (const std::size_t column = kind.column_of[leaf++]; column != no_column)
        paths[column] = where;
    });
    Json columns = Json::array();
    for (std::size_t i = 0; i < paths.size(); ++i)
      columns.push_back(
          {{"path", std::move(paths[i])}, {"values", std::move(kind.columns[i].values)}});
    all.push_back({{"template", std::move(kind.first)},
                   {"indices", std::move(kind.indices)},
                   {"columns", std::move(columns)}});
  }
  return all;
}

} // namespace mqbridge
