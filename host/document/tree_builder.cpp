#include "host/document/tree_builder.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

using nlohmann::json;

/// The document itself has ten levels.
constexpr std::size_t most_levels = 64;

/// The memory that one value takes in the tree, with its place in an object.
std::uint64_t bytes_of(const json& value) {
  constexpr std::uint64_t node = 96;
  return node + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
}

/// A mark in the place of a list of operations. No text makes such a value: JSON has no binary
/// values.
json mark(std::size_t list) {
  return json::binary({}, list);
}

} // namespace

TakeOperations TreeBuilder::take_operations() {
  return [this](const json& list, const Place& place) -> ChunkedList<Operation> {
    if (!list.is_binary()) {
      state_.complain(place, "an array");
      return {};
    }
    return std::exchange(lists_.at(list.get_binary().subtype()), {});
  };
}

bool TreeBuilder::number_float(double value, const std::string& /*text*/) {
  return add(value);
}

bool TreeBuilder::binary(json::binary_t& /*value*/) {
  return false; // comes from no text
}

bool TreeBuilder::start_object(std::size_t /*elements*/) {
  return begin(json::object(), Kind::plain);
}

bool TreeBuilder::key(std::string& name) {
  auto& level = levels_.back();
  level.key = std::move(name);
  ++events_;
  if (!state_.spend(level.key.size()))
    return false;
  bytes_ += level.key.size();
  if (!level.content.contains(level.key))
    return true;
  state_.complain(next_place(), "no second member of this name");
  return false;
}

bool TreeBuilder::start_array(std::size_t /*elements*/) {
  auto kind = Kind::plain;
  if (!levels_.empty() && levels_.back().content.is_object()) {
    if (levels_.back().key == "operations")
      kind = Kind::operations;
    else if (rank_done_ && levels_.back().key == "ranks")
      kind = kind_of_ranks();
  }
  return begin(json::array(), kind);
}

/// The kind of a member `ranks` that begins.
TreeBuilder::Kind TreeBuilder::kind_of_ranks() const {
  if (levels_.size() == 1)
    return Kind::ranks;
  const bool of_a_look =
      levels_.size() == 3 && levels_[0].key == "earlier" && levels_[1].content.is_array();
  return of_a_look ? Kind::earlier_ranks : Kind::plain;
}

bool TreeBuilder::begin(json content, Kind kind) {
  const Place place = levels_.empty() ? Place{} : next_place();
  ++events_;
  if (levels_.size() == most_levels) {
    state_.complain(place, "nothing that is nested so deep");
    return false;
  }
  levels_.push_back({place, std::move(content), kind, bytes_});
  return true;
}

bool TreeBuilder::end() {
  Level level = std::move(levels_.back());
  levels_.pop_back();
  if (level.kind != Kind::operations)
    return add(std::move(level.content));
  lists_.push_back(std::move(level.list));
  return add(mark(lists_.size() - 1));
}

bool TreeBuilder::add(json value) {
  const auto bytes = bytes_of(value);
  ++events_;
  if (!state_.spend(bytes))
    return false;
  state_.add_to_tree(bytes);
  bytes_ += bytes;
  if (levels_.empty()) {
    root_ = std::move(value);
    return true;
  }
  auto& level = levels_.back();
  if (level.content.is_array())
    return add_element(level, std::move(value));
  level.content.emplace(level.key, std::move(value));
  return true;
}

bool TreeBuilder::add_element(Level& level, json value) {
  switch (level.kind) {
  case Kind::plain:
    level.content.push_back(std::move(value));
    break;
  case Kind::operations:
    level.list.push_back(read_operation(value, next_place(), state_));
    state_.spend(sizeof(Operation));
    forget(level);
    break;
  case Kind::ranks:
    rank_done_(read_rank(value, next_place(), take_operations(), state_), std::nullopt);
    lists_.clear();
    forget(level);
    break;
  case Kind::earlier_ranks:
    rank_done_(read_earlier_rank(value, next_place(), take_operations(), state_),
               levels_[1].elements);
    lists_.clear();
    forget(level);
    break;
  }
  ++level.elements;
  return !state_.failed();
}

Place TreeBuilder::next_place() const {
  const auto& level = levels_.back();
  if (level.content.is_array())
    return {&level.place, {}, level.elements};
  return {&level.place, level.key};
}

void TreeBuilder::forget(const Level& level) {
  state_.give_back(bytes_ - level.bytes_before);
  bytes_ = level.bytes_before;
}

bool TreeBuilder::parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                              const json::exception& exception) {
  constexpr std::size_t most_words = 200;
  std::string_view words(exception.what()); // "[json.exception.parse_error.101] parse error at ..."
  words.remove_prefix(words.find(' ') + 1);
  state_.complain({"document.syntax",
                   fmt::format("this is not JSON: {}", words.substr(0, most_words)),
                   "take the dump again: this one was cut off, or is something else"});
  return false;
}

} // namespace mqbridge
