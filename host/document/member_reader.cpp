#include "host/document/member_reader.h"

#include "host/document/operation_members.h"
#include "host/dump/values/ranges.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace mqbridge {
namespace {

using nlohmann::json;

std::uint64_t length_of(const std::optional<std::string>& text) {
  return text ? text->size() : 0;
}

constexpr std::size_t numbers_a_run = 3;

/// Reads a run. nullopt: it makes no sense, and there was a complaint.
std::optional<Run> read_run(const json& run, const Place& place, ReadState& state) {
  const auto number = [&](std::size_t i) {
    return run.is_array() && run.size() == numbers_a_run ? integer_of(run[i]) : std::nullopt;
  };
  const auto first = number(0);
  const auto last = number(1);
  const auto step = number(2);
  if (first && last && step && value_count({*first, *last, *step}))
    return Run{*first, *last, *step};
  state.complain(place, "a run [first, last, step] that reaches its last value");
  return std::nullopt;
}

std::vector<Run> runs_of(const Fields& fields, std::string_view key) {
  std::vector<Run> runs;
  fields.each(key, [&](const json& element, const Place& place) {
    if (const auto run = read_run(element, place, fields.state()))
      runs.push_back(*run);
  });
  return runs;
}

std::vector<std::int64_t> values_of(const std::vector<Run>& runs, ReadState& state) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max() / sizeof(std::int64_t);
  for (const Run& run : runs)
    if (!state.spend_unfolded(std::min(value_count(run).value_or(0), most) * sizeof(std::int64_t)))
      return {};
  return mqbridge::values_of(runs);
}

/// Picks the type of numbers that can hold all elements; a number that JSON cannot hold is null.
std::optional<VariableValue> numbers(const json& list) {
  bool whole = true;
  bool is_signed = true;
  bool is_unsigned = true;
  for (const auto& element : list) {
    if (!element.is_number() && !element.is_null())
      return std::nullopt;
    whole = whole && element.is_number_integer();
    is_signed = is_signed && integer_of(element).has_value();
    is_unsigned = is_unsigned && element.is_number_unsigned();
  }
  if (!whole) {
    std::vector<double> values;
    for (const auto& element : list)
      values.push_back(element.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                         : element.get<double>());
    return values;
  }
  if (is_signed)
    return list.get<std::vector<std::int64_t>>();
  if (!is_unsigned)
    return std::nullopt;
  return list.get<std::vector<std::uint64_t>>();
}

} // namespace

void read_value(const Fields& fields, std::string_view key, bool& flag) {
  flag = fields.flag(key);
}

void read_value(const Fields& fields, std::string_view key, bool& flag, TrueOrNull /*form*/) {
  flag = fields.maybe_flag(key).value_or(false);
}

void read_value(const Fields& fields, std::string_view key, bool& flag, FlagOrAbsent /*form*/) {
  flag = fields.maybe_flag(key).value_or(false);
}

void read_value(const Fields& fields, std::string_view key, std::optional<bool>& flag) {
  flag = fields.maybe_flag(key);
}

void read_value(const Fields& fields, std::string_view key, double& number) {
  number = fields.number(key);
}

void read_value(const Fields& fields, std::string_view key, std::optional<double>& number) {
  number = fields.maybe_number(key);
}

void read_value(const Fields& fields, std::string_view key, std::uint64_t& count) {
  count = fields.count(key);
}

void read_value(const Fields& fields, std::string_view key, std::optional<std::uint64_t>& count) {
  count = fields.maybe_count(key);
}

void read_value(const Fields& fields, std::string_view key, int& size, PointerSize /*form*/) {
  const auto read = fields.integer(key);
  if (read != 4 && read != 8)
    fields.complain(key, "4 or 8");
  size = read == 4 ? 4 : 8;
}

void read_value(const Fields& fields, std::string_view key, std::int64_t& thread, AsText /*form*/) {
  const auto text = fields.text(key);
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, thread);
  if (error != std::errc() || end != last)
    fields.complain(key, "the number of a thread, as a text");
}

void read_value(const Fields& fields, std::string_view key, std::string& text) {
  text = fields.text(key);
  fields.state().spend(text.size());
}

void read_value(const Fields& fields, std::string_view key, std::string& text, OrNull /*form*/) {
  text = fields.text_or_empty(key);
  fields.state().spend(text.size());
}

void read_value(const Fields& fields, std::string_view key, std::optional<std::string>& text) {
  text = fields.maybe_text(key);
  fields.state().spend(length_of(text));
}

void read_value(const Fields& fields, std::string_view key, std::optional<std::string>& text,
                Present /*form*/) {
  if (fields.required(key) != nullptr)
    read_value(fields, key, text);
}

void read_value(const Fields& fields, std::string_view key, SharedText& text) {
  const auto read = fields.maybe_text(key);
  text = read ? fields.state().texts.share(*read) : nullptr;
}

void read_value(const Fields& fields, std::string_view key, TargetAddress& address) {
  address = fields.address(key);
}

void read_value(const Fields& fields, std::string_view key, std::optional<TargetAddress>& address) {
  address = fields.maybe_address(key);
}

void read_value(const Fields& fields, std::string_view key, std::uint64_t& address,
                AsAddress /*form*/) {
  address = fields.address(key).value;
}

void read_value(const Fields& fields, std::string_view key, std::optional<std::uint64_t>& address,
                AsAddress /*form*/) {
  const auto read = fields.maybe_address(key);
  address = read ? std::optional(read->value) : std::nullopt;
}

void read_value(const Fields& fields, std::string_view key, std::vector<std::uint64_t>& addresses,
                AsAddress form) {
  fields.each(key, [&](const json& element, const Place& place) {
    // As a member of an object: these have a form of their own.
    const json holder = {{"address", element}};
    read_value(Fields(holder, place, fields.state()), "address", addresses.emplace_back(), form);
  });
  fields.state().spend(addresses.size() * sizeof(std::uint64_t));
}

void read_value(const Fields& fields, std::string_view key,
                std::optional<std::vector<std::uint64_t>>& addresses, AsAddress form) {
  if (!fields.is_null(key))
    read_value(fields, key, addresses.emplace(), form);
}

void read_value(const Fields& fields, std::string_view key, std::vector<int>& numbers) {
  fields.each(key, [&](const json& element, const Place& place) {
    const auto number = integer_of(element);
    if (!number || *number < least_int || *number > most_int)
      return fields.state().complain(place, "an int");
    numbers.push_back(static_cast<int>(*number));
  });
  fields.state().spend(numbers.size() * sizeof(int));
}

void read_value(const Fields& fields, std::string_view key, std::vector<bool>& flags) {
  fields.each(key, [&](const json& element, const Place& place) {
    if (!element.is_boolean())
      return fields.state().complain(place, "true or false");
    flags.push_back(element.get<bool>());
  });
}

void read_value(const Fields& fields, std::string_view key, std::vector<std::size_t>& indexes) {
  fields.each(key, [&](const json& element, const Place& place) {
    const auto index = integer_of(element);
    if (!index || *index < 0)
      return fields.state().complain(place, "an index");
    indexes.push_back(static_cast<std::size_t>(*index));
  });
  fields.state().spend(indexes.size() * sizeof(std::size_t));
}

/// If the same runs were read before, the same list is used again.
void read_value(const Fields& fields, std::string_view key, RankList& ranks) {
  if (fields.is_null(key))
    return;
  auto& state = fields.state();
  auto runs = runs_of(fields, key);
  if (const auto* const known = state.rank_lists->find(runs)) {
    ranks = *known;
    return;
  }
  ranks = values_of(runs, state);
  if (!state.failed())
    ranks = state.rank_lists->add(std::move(runs), std::move(ranks));
}

/// As runs, with -1 for a process whose rank is not known.
void read_value(const Fields& fields, std::string_view key,
                std::vector<std::optional<int>>& group) {
  if (fields.is_null(key))
    return;
  for (const std::int64_t rank : read_runs(fields, key)) {
    const bool is_rank = rank >= 0 && rank <= most_int;
    group.push_back(is_rank ? std::optional(static_cast<int>(rank)) : std::nullopt);
  }
  fields.state().spend(group.size() * sizeof(group[0]));
}

void read_value(const Fields& fields, std::string_view key, std::vector<std::int64_t>& ranks,
                PlacesInJob /*form*/) {
  fields.each(key, [&](const json& element, const Place& place) {
    const auto rank = integer_of(element);
    if (!element.is_null() && !rank)
      fields.state().complain(place, "a rank, or null");
    ranks.push_back(std::max<std::int64_t>(rank.value_or(-1), -1));
    fields.state().spend(sizeof(std::int64_t));
  });
}

void read_value(const Fields& fields, std::string_view key, RepairList& repairs) {
  fields.each(key, [&](const json& element, const Place& place) {
    const auto repair =
        element.is_string() ? value_named<Repair>(element.get<std::string>()) : std::nullopt;
    if (repair)
      repairs.add(*repair);
    else
      fields.state().complain(place, "a repair that this version knows");
  });
}

void read_value(const Fields& fields, std::string_view key, TextLines& text) {
  constexpr std::size_t most_lines = std::numeric_limits<std::uint8_t>::max();
  auto read = fields.texts(key, most_lines);
  for (auto& line : read)
    line = printable(line); // TextLines takes no control characters
  text = TextLines(read, fields.state().texts);
}

void read_value(const Fields& fields, std::string_view key, Delivery& delivery) {
  const auto delivered = fields.maybe_flag(key);
  if (!delivered)
    delivery = Delivery::not_known;
  else
    delivery = *delivered ? Delivery::delivered : Delivery::undelivered;
}

void read_value(const Fields& fields, std::string_view key, std::optional<VariableValue>& value) {
  if (fields.is_null(key))
    return;
  const json& read = *fields.find(key);
  if (read.is_string())
    value = read.get<std::string>();
  else
    value = numbers(read.is_array() ? read : json::array({read}));
  if (!value)
    fields.complain(key, "a number, a list of numbers or a text");
  fields.state().spend(read.is_string() ? read.get_ref<const std::string&>().size()
                                        : read.size() * sizeof(std::int64_t));
}

std::vector<std::int64_t> read_runs(const Fields& fields, std::string_view key) {
  return values_of(runs_of(fields, key), fields.state());
}

void MemberReader::each(std::string_view key, void* list, std::size_t size,
                        void (*add)(MemberReader element, void* list)) {
  fields_.each(key, [&](const json& element, const Place& place) {
    const Fields fields(element, place, fields_.state());
    add(MemberReader(fields, what_), list);
    fields_.state().spend(size);
  });
}

void MemberReader::member(std::string_view key, ChunkedList<Operation>& operations) {
  if (const auto* const list = fields_.required(key))
    operations = (*what_.take)(*list, fields_.place_of(key));
}

void MemberReader::members(SharedSite& site) {
  if (fields_.is_null("site"))
    return;
  CallSite read;
  ReadState& state = fields_.state();
  const auto bytes_left = state.bytes_left();
  describe(*this, read);
  // All operations that share a site keep its texts once: the growth of the pool is what they cost.
  state.give_back(bytes_left - state.bytes_left());
  auto& sites = state.sites;
  const auto bytes_before = sites.bytes();
  site = sites.share(read);
  state.spend(sites.bytes() - bytes_before);
}

} // namespace mqbridge
