#include "host/document/member_reader.h"
#include "host/document/operation_members.h"
#include "host/document/rank_members.h"

#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;

/// The DLL's values if it was right: -1 stands for unknown.
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
    read_value(fields, "text", operation.text);
    if (operation.text.size() < shown)
      fields.complain("text", "all lines");
    operation.text.show_only(shown);
  }
}

RankDump read(const json& value, const Place& place, MemberReader::What what, ReadState& state) {
  RankDump rank;
  state.spend(sizeof(RankDump));
  MemberReader(Fields(value, place, state), what).read(rank);
  return rank;
}

} // namespace

void MemberReader::member(std::string_view key, Operation& operation, RawValues /*form*/) {
  if (operation.source != OpSource::dll)
    return;
  operation.raw = raw_as_reported(operation);
  if (!fields_.is_null(key))
    read_raw(Fields(fields_, key), operation);
}

Operation read_operation(const json& value, const Place& place, ReadState& state) {
  Operation operation;
  MemberReader(Fields(value, place, state), {}).read(operation);
  return operation;
}

std::vector<RankError> read_errors(const Fields& fields, std::string_view key) {
  std::vector<RankError> errors;
  MemberReader(fields, {}).list(key, errors);
  return errors;
}

RankDump read_rank(const json& value, const Place& place, const TakeOperations& take,
                   ReadState& state) {
  return read(value, place, {.take = &take}, state);
}

RankDump read_earlier_rank(const json& value, const Place& place, const TakeOperations& take,
                           ReadState& state) {
  return read(value, place, {.take = &take, .statistics = false}, state);
}

} // namespace mqbridge
