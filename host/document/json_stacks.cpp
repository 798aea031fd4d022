#include "host/document/json_rank.h"
#include "host/document/names.h"

#include <fmt/format.h>

namespace mqbridge {
namespace {

using Layout = JsonWriter::Layout;

/// A text, as the schema has it: scripts compare it, and never count with it.
void write_thread(JsonWriter& json, std::int64_t thread) {
  json.member("thread", fmt::to_string(thread));
}

void write_call(JsonWriter& json, const BlockedCall& call) {
  json.begin_object(Layout::one_line);
  write_thread(json, call.thread);
  json.member("call", call.call);
  write_address(json, "communicator", call.communicator);
  json.member("file", call.file);
  json.member("line", call.line);
  write_address(json, "request", call.request);
  json.member("request_unique", call.request_unique);
  json.member("function", call.function);
  json.member("system_call", call.system_call);
  if (call.root)
    json.member("root", call.root);
  if (call.sequence)
    json.member("sequence", call.sequence);
  if (call.group)
    json.member("group", std::int64_t{*call.group});
  json.end();
}

void write_frame(JsonWriter& json, const StackFrame& frame) {
  json.begin_object(Layout::one_line);
  write_address(json, "address", frame.address);
  json.member("function", frame.function);
  json.member("offset", frame.offset);
  json.member("file", frame.file);
  json.member("line", frame.line);
  json.member("module", frame.module);
  json.member("inlined", frame.inlined);
  json.end();
}

void write_stack(JsonWriter& json, const ThreadStack& stack) {
  json.begin_object();
  write_thread(json, stack.thread);
  json.member("name", stack.name);
  json.member("helper", stack.helper);
  json.member("end", name_of(stack.end));
  json.key("frames").begin_array();
  for (const StackFrame& frame : stack.frames)
    write_frame(json, frame);
  json.end();
  json.end();
}

} // namespace

void write_blocked_in(JsonWriter& json, const std::optional<std::vector<BlockedCall>>& calls) {
  if (!calls) {
    json.member("blocked_in", nullptr);
    return;
  }
  json.key("blocked_in").begin_array();
  for (const BlockedCall& call : *calls)
    write_call(json, call);
  json.end();
}

void write_stacks(JsonWriter& json, const std::optional<std::vector<ThreadStack>>& stacks) {
  if (!stacks) {
    json.member("stacks", nullptr);
    return;
  }
  json.key("stacks").begin_array();
  for (const ThreadStack& stack : *stacks)
    write_stack(json, stack);
  json.end();
}

} // namespace mqbridge
