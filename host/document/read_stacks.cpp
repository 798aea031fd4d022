#include "host/document/read_parts.h"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;

std::int64_t read_thread(const Fields& fields) {
  const auto text = fields.text("thread");
  std::int64_t thread = 0;
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, thread);
  if (error != std::errc() || end != last)
    fields.complain("thread", "the number of a thread, as a text");
  return thread;
}

std::uint64_t length_of(const std::optional<std::string>& text) {
  return text ? text->size() : 0;
}

BlockedCall read_call(const json& value, const Place& place, ReadState& state) {
  const Fields fields(value, place, state);
  BlockedCall call;
  call.thread = read_thread(fields);
  if (fields.required("call") != nullptr)
    call.call = fields.maybe_text("call");
  call.communicator = fields.maybe_address("communicator");
  call.file = fields.maybe_text("file");
  call.line = fields.maybe_integer("line");
  call.request = fields.maybe_address("request");
  call.request_unique = fields.maybe_flag("request_unique");
  call.function = fields.maybe_text("function");
  call.system_call = fields.maybe_text("system_call");
  call.root = fields.maybe_integer("root");
  call.sequence = fields.maybe_integer("sequence");
  constexpr std::int64_t most_groups = std::numeric_limits<std::uint32_t>::max();
  if (const auto group = fields.maybe_integer("group", 0, most_groups))
    call.group = static_cast<std::uint32_t>(*group);
  state.spend(sizeof(BlockedCall) + length_of(call.call) + length_of(call.file) +
              length_of(call.function) + length_of(call.system_call));
  return call;
}

StackFrame read_frame(const json& value, const Place& place, ReadState& state) {
  const Fields fields(value, place, state);
  StackFrame frame;
  frame.address = fields.address("address");
  frame.function = fields.maybe_text("function");
  frame.offset = fields.maybe_integer("offset");
  frame.file = fields.maybe_text("file");
  frame.line = fields.maybe_integer("line");
  frame.module = fields.maybe_text("module");
  frame.inlined = fields.flag("inlined");
  state.spend(sizeof(StackFrame) + length_of(frame.function) + length_of(frame.file) +
              length_of(frame.module));
  return frame;
}

ThreadStack read_stack(const json& value, const Place& place, ReadState& state) {
  const Fields fields(value, place, state);
  ThreadStack stack;
  stack.thread = read_thread(fields);
  stack.name = fields.maybe_text("name");
  stack.helper = fields.flag("helper");
  stack.end = fields.word<StackEnd>("end");
  fields.each("frames", [&](const json& element, const Place& at) {
    stack.frames.push_back(read_frame(element, at, state));
  });
  state.spend(sizeof(ThreadStack) + length_of(stack.name));
  return stack;
}

/// nullopt: null, or absent as in documents of earlier versions.
template <class T>
std::optional<std::vector<T>> read_list(const Fields& rank, std::string_view key,
                                        T (*read)(const json&, const Place&, ReadState&)) {
  if (rank.is_null(key))
    return std::nullopt;
  std::vector<T> list;
  rank.each(key, [&](const json& element, const Place& place) {
    list.push_back(read(element, place, rank.state()));
  });
  return list;
}

} // namespace

std::optional<std::vector<BlockedCall>> read_blocked_in(const Fields& rank) {
  return read_list(rank, "blocked_in", read_call);
}

std::optional<std::vector<ThreadStack>> read_stacks(const Fields& rank) {
  return read_list(rank, "stacks", read_stack);
}

} // namespace mqbridge
