#include "host/document/member_writer.h"

#include "host/document/communicator_members.h"
#include "host/document/raw_values.h"

#include <fmt/format.h>
#include <variant>

namespace mqbridge {
namespace {

/// A single element is written as a number, not as a list.
template <class T>
void write_elements(JsonWriter& json, const std::vector<T>& elements) {
  if (elements.size() == 1)
    json.value(elements.front());
  else
    write_value(json, elements);
}

void write_elements(JsonWriter& json, const std::string& text) {
  json.value(text);
}

} // namespace

void write_word(JsonWriter& json, std::string_view word) {
  if (word.empty())
    json.value(nullptr);
  else
    json.value(word);
}

void write_value(JsonWriter& json, const std::string& text, OrNull /*form*/) {
  write_word(json, text);
}

void write_value(JsonWriter& json, const bool& flag, TrueOrNull /*form*/) {
  json.value(flag ? std::optional(true) : std::nullopt);
}

void write_value(JsonWriter& json, const std::optional<std::uint64_t>& address,
                 AsAddress /*form*/) {
  write_word(json, address ? address_text(*address) : std::string());
}

void write_value(JsonWriter& json, const TargetAddress& address) {
  json.value(address_text(address.value));
}

void write_value(JsonWriter& json, const std::optional<TargetAddress>& address) {
  write_word(json, address ? address_text(address->value) : std::string());
}

void write_value(JsonWriter& json, const std::vector<std::uint64_t>& addresses,
                 AsAddress /*form*/) {
  json.begin_array(one_line);
  for (const std::uint64_t address : addresses)
    json.value(address_text(address));
  json.end();
}

void write_value(JsonWriter& json, const std::optional<std::vector<std::uint64_t>>& addresses,
                 AsAddress form) {
  if (addresses)
    write_value(json, *addresses, form);
  else
    json.value(nullptr);
}

void write_value(JsonWriter& json, const RankList& ranks) {
  if (ranks)
    write_runs(json, *ranks);
  else
    json.value(nullptr);
}

/// -1 stands for a process whose rank is not known; an empty group is not known.
void write_value(JsonWriter& json, const std::vector<std::optional<int>>& group) {
  if (group.empty())
    return json.value(nullptr);
  std::vector<std::int64_t> ranks;
  for (const auto& rank : group)
    ranks.push_back(rank.value_or(-1));
  write_runs(json, ranks);
}

void write_value(JsonWriter& json, const std::vector<std::int64_t>& ranks, PlacesInJob /*form*/) {
  json.begin_array(one_line);
  for (const std::int64_t rank : ranks)
    json.value(rank < 0 ? std::optional<std::int64_t>() : std::optional(rank));
  json.end();
}

void write_value(JsonWriter& json, const RepairList& repairs) {
  json.begin_array();
  for (const Repair repair : repairs)
    json.value(name_of(repair));
  json.end();
}

void write_value(JsonWriter& json, const std::vector<std::string>& lines,
                 JsonWriter::Layout layout) {
  json.begin_array(layout);
  for (const std::string& line : lines)
    json.value(line);
  json.end();
}

void write_value(JsonWriter& json, const TextLines& text) {
  json.begin_array();
  for (const std::string line : text)
    json.value(line);
  json.end();
}

void write_value(JsonWriter& json, const Delivery& delivery) {
  json.value(delivery == Delivery::not_known ? std::nullopt
                                             : std::optional(delivery == Delivery::delivered));
}

void write_value(JsonWriter& json, const std::int64_t& thread, AsText /*form*/) {
  json.value(fmt::to_string(thread));
}

void write_value(JsonWriter& json, const std::optional<VariableValue>& value) {
  if (value)
    std::visit([&](const auto& content) { write_elements(json, content); }, *value);
  else
    json.value(nullptr);
}

void MemberWriter::member(std::string_view key, const ChunkedList<Operation>& operations) {
  json_.key(key).begin_array();
  for (const Operation& operation : operations)
    element(operation, one_line);
  json_.end();
}

void MemberWriter::member(std::string_view key, const Operation& operation, RawValues /*form*/) {
  if (!what_.raw)
    return;
  const auto differences = raw_differences(operation);
  if (differences.empty() && !operation.text.hides_some())
    return;
  json_.key(key).begin_object();
  for (const RawDifference& difference : differences) {
    if (difference.is_address)
      json_.member(difference.field, address_text(static_cast<std::uint64_t>(difference.value)));
    else
      json_.member(difference.field, difference.value);
  }
  if (operation.text.hides_some())
    member("text", operation.text.all());
  json_.end();
}

void MemberWriter::members(const SharedSite& site) {
  if (site)
    write(*site);
}

} // namespace mqbridge
