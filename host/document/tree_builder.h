#pragma once

#include "host/document/read_parts.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// Makes a tree of JSON while it is parsed, in bounded memory. Values of which there may be
/// millions are never in the tree: the operations of each queue become a list at once, and a mark
/// takes their place. If `rank_done` is given, it takes each element of the document's `ranks`, and
/// of those of its earlier looks.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  /// `look`: the place in `earlier` of the look that the rank belongs to; nullopt: the document's.
  using RankDone = std::function<void(RankDump&& rank, std::optional<std::size_t> look)>;

  TreeBuilder(ReadState& state, RankDone rank_done)
      : state_(state), rank_done_(std::move(rank_done)) {}
  ~TreeBuilder() override { state_.give_back(bytes_); }
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;

  /// The tree, once parsing has succeeded.
  const nlohmann::json& root() const { return root_; }
  /// The number of parsing events so far.
  std::uint64_t events() const { return events_; }
  /// Gives out the operations behind a mark, once each.
  TakeOperations take_operations();

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& text) override;
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t& value) override;
  bool start_object(std::size_t elements) override;
  bool key(std::string& name) override;
  bool end_object() override { return end(); }
  bool start_array(std::size_t elements) override;
  bool end_array() override { return end(); }
  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::json::exception& exception) override;

private:
  enum class Kind : std::uint8_t { plain, operations, ranks, earlier_ranks };

  /// An object or an array that has begun.
  struct Level {
    Place place;
    nlohmann::json content;
    Kind kind = Kind::plain;
    std::uint64_t bytes_before = 0; ///< of the tree, when it began
    std::size_t elements = 0;
    std::string key = {}; ///< of the member that comes next
    ChunkedList<Operation> list = {};
  };

  bool add(nlohmann::json value);
  bool begin(nlohmann::json content, Kind kind);
  bool end();
  bool add_element(Level& level, nlohmann::json value);
  Kind kind_of_ranks() const;
  Place next_place() const;
  /// The values in the tree since `level` began were taken out.
  void forget(const Level& level);

  ReadState& state_;
  RankDone rank_done_;
  nlohmann::json root_;
  std::deque<Level> levels_; ///< places point to those around them
  std::vector<ChunkedList<Operation>> lists_;
  std::uint64_t bytes_ = 0; ///< of the tree
  std::uint64_t events_ = 0;
};

} // namespace mqbridge
