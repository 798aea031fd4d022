#include "host/document/read_parts.h"
#include "rsp/packet/printable.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;

constexpr auto least_int = std::numeric_limits<std::int32_t>::min();
constexpr auto most_int = std::numeric_limits<std::int32_t>::max();

SharedText shared_text(const Fields& fields, std::string_view key) {
  const auto text = fields.maybe_text(key);
  return text ? fields.state().texts.share(*text) : nullptr;
}

TextLines text_lines(const Fields& fields, std::string_view key) {
  constexpr std::size_t most_lines = std::numeric_limits<std::uint8_t>::max();
  auto lines = fields.texts(key, most_lines);
  for (auto& line : lines)
    line = printable(line); // TextLines takes no control characters
  return {lines, fields.state().texts};
}

std::optional<ActualMessage> read_actual(const Fields& operation) {
  if (operation.is_null("actual"))
    return std::nullopt;
  const Fields actual(operation, "actual");
  return ActualMessage{actual.maybe_integer("local_rank"), actual.maybe_integer("global_rank"),
                       actual.maybe_integer("tag"), actual.maybe_integer("length")};
}

/// The DLL's values where it was right: -1 is what it says for unknown.
RawOperation raw_as_reported(const Operation& operation) {
  const auto actual = operation.actual.value_or(ActualMessage{});
  return {.desired_local_rank = operation.peer.local_rank.value_or(-1),
          .desired_global_rank = operation.peer.global_rank.value_or(-1),
          .desired_tag = operation.tag.value.value_or(-1),
          .desired_length = operation.length.value.value_or(-1),
          .buffer = operation.buffer.value_or(TargetAddress{}).value,
          .actual_local_rank = actual.local_rank.value_or(-1),
          .actual_global_rank = actual.global_rank.value_or(-1),
          .actual_tag = actual.tag.value_or(-1),
          .actual_length = actual.length.value_or(-1),
          .status = static_cast<std::int32_t>(operation.status),
          .tag_wild = operation.tag.any ? 1 : 0,
          .system_buffer = operation.system_buffer ? 1 : 0};
}

/// The reverse of raw_differences().
void read_raw(const Fields& fields, Operation& operation) {
  RawOperation& raw = operation.raw;
  const auto replace = [&](std::string_view key, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    const bool is_int = sizeof(Value) == sizeof(std::int32_t);
    const auto said =
        is_int ? fields.maybe_integer(key, least_int, most_int) : fields.maybe_integer(key);
    value = static_cast<Value>(said.value_or(value));
  };
  replace("desired_local_rank", raw.desired_local_rank);
  replace("desired_global_rank", raw.desired_global_rank);
  replace("desired_tag", raw.desired_tag);
  replace("desired_length", raw.desired_length);
  replace("actual_local_rank", raw.actual_local_rank);
  replace("actual_global_rank", raw.actual_global_rank);
  replace("actual_tag", raw.actual_tag);
  replace("actual_length", raw.actual_length);
  replace("status", raw.status);
  replace("tag_wild", raw.tag_wild);
  replace("system_buffer", raw.system_buffer);
  raw.buffer = fields.maybe_address("buffer").value_or(TargetAddress{raw.buffer}).value;
  if (!fields.is_null("text")) {
    const auto shown = operation.text.size();
    operation.text = text_lines(fields, "text");
    if (operation.text.size() < shown)
      fields.complain("text", "all lines");
    operation.text.show_only(shown);
  }
}

Delivery read_delivery(const Fields& fields) {
  const auto delivered = fields.maybe_flag("delivered");
  if (!delivered)
    return Delivery::not_known;
  return *delivered ? Delivery::delivered : Delivery::undelivered;
}

/// A collective that this version does not know is not the program's own either.
Collective read_collective(const Fields& fields) {
  return fields.is_null("collective") ? Collective::none
                                      : fields.word_or("collective", Collective::internal);
}

void read_repairs(const Fields& fields, RepairList& repairs) {
  fields.each("repairs", [&](const json& element, const Place& place) {
    const auto repair =
        element.is_string() ? value_named<Repair>(element.get<std::string>()) : std::nullopt;
    if (repair)
      repairs.add(*repair);
    else
      fields.state().complain(place, "a repair that this version knows");
  });
}

} // namespace

Waited read_waited(const Fields& operation) {
  constexpr std::int64_t most_groups = std::numeric_limits<std::uint32_t>::max();
  constexpr std::int64_t most_count = Waited::unknown_count - 1;
  Waited waited;
  if (operation.is_null("waited"))
    return waited;
  const Fields fields(operation, "waited");
  waited.mode = fields.word_or("mode", WaitMode::unknown);
  waited.group = static_cast<std::uint32_t>(fields.integer("group", 1, most_groups));
  if (const auto count = fields.maybe_integer("count", 0, most_count))
    waited.count = static_cast<std::uint32_t>(*count) & Waited::unknown_count;
  waited.unseen = fields.maybe_flag("unseen").value_or(false);
  return waited;
}

SharedSite read_site(const Fields& fields) {
  const auto address = fields.maybe_address("site");
  if (!address)
    return nullptr;
  auto& sites = fields.state().sites;
  const auto bytes_before = sites.bytes();
  auto site = sites.share({*address, fields.maybe_text("function"), fields.maybe_text("file"),
                           fields.maybe_integer("line")});
  fields.state().spend(sites.bytes() - bytes_before);
  return site;
}

Operation read_operation(const json& value, const Place& place, ReadState& state) {
  const Fields fields(value, place, state);
  constexpr std::int64_t most_sequence = std::numeric_limits<std::uint32_t>::max() - 1;
  Operation operation;
  operation.status = fields.word_or("status", OpStatus::unknown);
  const Fields peer(fields, "peer");
  operation.peer = {peer.flag("any"), peer.maybe_integer("local_rank"),
                    peer.maybe_integer("global_rank")};
  const Fields tag(fields, "tag");
  operation.tag = {tag.flag("any"), tag.maybe_integer("value")};
  const Fields length(fields, "length");
  operation.length = {length.maybe_integer("value"), length.word_or("unit", LengthUnit::unknown)};
  operation.buffer = fields.maybe_address("buffer");
  operation.system_buffer = fields.flag("system_buffer");
  operation.actual = read_actual(fields);
  operation.text = text_lines(fields, "text");
  read_repairs(fields, operation.repairs);
  operation.source = fields.word_or("source", OpSource::dll);
  if (operation.source == OpSource::dll) {
    operation.raw = raw_as_reported(operation);
    if (!fields.is_null("raw"))
      read_raw(Fields(fields, "raw"), operation);
  }
  operation.call = shared_text(fields, "call");
  operation.datatype = shared_text(fields, "datatype");
  operation.count = fields.maybe_integer("count");
  operation.request = fields.maybe_address("request");
  operation.kind = fields.word_or("kind", OpKind::unknown);
  operation.delivery = read_delivery(fields);
  if (const auto sequence = fields.maybe_integer("sequence", 0, most_sequence))
    operation.sequence = static_cast<std::uint32_t>(*sequence);
  operation.protocol = fields.word_or("protocol", Protocol::unknown);
  operation.collective = read_collective(fields);
  operation.waited = read_waited(fields);
  operation.site = read_site(fields);
  return operation;
}

} // namespace mqbridge
