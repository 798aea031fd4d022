#pragma once

#include "host/document/forms.h"
#include "host/stacks/stack.h"

namespace mqbridge {

void describe(auto& form, CallArguments& arguments) {
  form.member("peer", arguments.peer);
  form.member("any_source", arguments.any_source);
  form.member("tag", arguments.tag);
  form.member("any_tag", arguments.any_tag);
  form.member("send_to", arguments.send_to);
  form.member("send_tag", arguments.send_tag);
  form.member("root", arguments.root);
  form.member("bytes", arguments.bytes);
  form.member("communicator", arguments.communicator);
}

void describe(auto& form, BlockedCall& call) {
  form.member("thread", call.thread, as_text);
  form.member("call", call.call, present);
  form.member("communicator", call.communicator);
  form.member("file", call.file);
  form.member("line", call.line);
  form.member("request", call.request);
  form.member("request_unique", call.request_unique);
  form.member("function", call.function);
  form.member("system_call", call.system_call);
  form.member("root", call.root, if_known);
  form.member("sequence", call.sequence, if_known);
  form.member("group", call.group, if_known);
  form.part("arguments", call.arguments);
  form.member("program_state", call.program_state, if_known);
}

void describe(auto& form, StackFrame& frame) {
  form.member("address", frame.address);
  form.member("function", frame.function);
  form.member("offset", frame.offset);
  form.member("file", frame.file);
  form.member("line", frame.line);
  form.member("module", frame.module);
  form.member("inlined", frame.inlined);
  form.member("language", frame.language, if_known);
}

void describe(auto& form, ThreadStack& stack) {
  form.member("thread", stack.thread, as_text);
  form.member("name", stack.name);
  form.member("helper", stack.helper);
  form.member("end", stack.end);
  form.list("frames", stack.frames, one_line);
}

} // namespace mqbridge
