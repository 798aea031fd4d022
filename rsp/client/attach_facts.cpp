#include "rsp/client/attach_facts.h"

#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

/// The bit number of CAP_SYS_PTRACE in <linux/capability.h>.
constexpr unsigned ptrace_capability = 19;

template <class Number>
std::optional<Number> parse_decimal(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

/// Field `index` (from 0) of the line "NAME:\tVALUE\tVALUE..." of a status file; empty if missing.
std::string_view status_field(std::string_view status, std::string_view name, int index = 0) {
  while (!status.empty()) {
    std::string_view line = status.substr(0, status.find('\n'));
    status.remove_prefix(std::min(status.size(), line.size() + 1));
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(":\t"))
      continue;
    line.remove_prefix(name.size() + 2);
    for (; index > 0; --index)
      line.remove_prefix(std::min(line.find('\t'), line.size() - 1) + 1);
    return line.substr(0, line.find('\t'));
  }
  return {};
}

void learn_stub(AttachFacts& facts, std::string_view status) {
  facts.stub_user = parse_decimal<std::uint32_t>(status_field(status, "Uid", 1));
  if (const auto capabilities = parse_hex(status_field(status, "CapEff")))
    facts.may_trace_any = ((*capabilities >> ptrace_capability) & 1) != 0;
}

void learn_process(AttachFacts& facts, std::string_view status) {
  facts.zombie = status_field(status, "State").starts_with('Z');
  facts.threads = parse_decimal<std::uint32_t>(status_field(status, "Threads"));
  facts.tracer = parse_decimal<std::int64_t>(status_field(status, "TracerPid"));
  facts.process_user = parse_decimal<std::uint32_t>(status_field(status, "Uid", 0));
}

Error denied_by_yama(const AttachFacts& facts, std::string what) {
  what += fmt::format("; same user, yama ptrace_scope={}", *facts.yama_scope);
  if (*facts.yama_scope >= 3) {
    return {
        "ptrace.yama", std::move(what),
        "ptrace_scope 3 lasts until the node is booted again, with another one: until then nobody "
        "may trace there; core files are left"};
  }
  return {"ptrace.yama", std::move(what),
          "run mqbridge as root; or as root on the node: sysctl -w kernel.yama.ptrace_scope=0"};
}

Error denied_by_capability(std::string what) {
  return {"ptrace.capability", std::move(what) + "; the server is root, but without CAP_SYS_PTRACE",
          "start the container with: --cap-add SYS_PTRACE"};
}

std::string user_text(std::uint32_t user) {
  return user == 0 ? "root" : fmt::format("user {}", user);
}

Error denied_to_user(const AttachFacts& facts, std::int64_t pid) {
  const auto owner = user_text(*facts.process_user);
  return {
      "ptrace.other_user",
      fmt::format("process {} is of {}: {}, as whom the server runs, may not look into it", pid,
                  owner, user_text(*facts.stub_user)),
      fmt::format("run mqbridge as root{0}; of another node: ssh:root@HOST:PID; a server of your "
                  "own: start it as root{0}",
                  *facts.process_user == 0 ? "" : ", or as " + owner)};
}

Error already_traced(const AttachFacts& facts, std::string what) {
  const std::string tracer = facts.tracer_name.empty()
                                 ? fmt::format("process {}", *facts.tracer)
                                 : fmt::format("{} (process {})", facts.tracer_name, *facts.tracer);
  return {"ptrace.traced", fmt::format("{}; {} traces it already", std::move(what), tracer),
          fmt::format("end that debugger, or if {} is a gdbserver, connect to it", *facts.tracer)};
}

/// nullopt: the facts do not say why.
std::optional<Error> explain_by_facts(const AttachFacts& facts, std::int64_t pid,
                                      std::string what) {
  if (facts.exists == false) {
    return Error{"attach.no_such_process",
                 fmt::format("there is no process {} where the stub runs", pid),
                 "on the node: pgrep -ax PROGRAM    (a container has process numbers of its own)"};
  }
  if (facts.zombie && facts.threads.value_or(1) > 1) {
    return Error{"attach.main_ended",
                 fmt::format("{}; its main thread has ended (pthread_exit), and {} of its threads "
                             "live on: a debugger can attach only to these, and this server does "
                             "not list them",
                             what, *facts.threads - 1),
                 fmt::format("on the node: mqbridge dump local:{}", pid)};
  }
  if (facts.zombie) {
    return Error{"attach.exited", what + "; it has ended, and waits only for its parent",
                 "on the node: pgrep -ax PROGRAM"};
  }
  if (facts.tracer.value_or(0) > 0)
    return already_traced(facts, std::move(what));
  if (facts.may_trace_any == false) {
    if (facts.stub_user == 0u)
      return denied_by_capability(std::move(what));
    if (facts.stub_user && facts.process_user && facts.stub_user != facts.process_user)
      return denied_to_user(facts, pid);
    if (facts.yama_scope.value_or(0) > 0)
      return denied_by_yama(facts, std::move(what));
  }
  return std::nullopt;
}

} // namespace

AttachFacts gather_attach_facts(const FileSource& files, std::int64_t pid,
                                std::string_view stub_status) {
  AttachFacts facts;
  const auto stub = files(stub_status);
  if (!stub)
    return facts; // there is no /proc: a missing file means nothing
  learn_stub(facts, *stub);
  const auto process = files(fmt::format("/proc/{}/status", pid));
  facts.exists = process.has_value();
  if (process)
    learn_process(facts, *process);
  if (const auto scope = files("/proc/sys/kernel/yama/ptrace_scope"))
    facts.yama_scope = parse_decimal<int>(*scope);
  if (facts.tracer.value_or(0) > 0) {
    if (const auto tracer = files(fmt::format("/proc/{}/status", *facts.tracer)))
      facts.tracer_name = shorten(status_field(*tracer, "Name"));
  }
  return facts;
}

Error explain_refusal(const AttachFacts& facts, std::int64_t pid, std::string_view said) {
  const auto what = fmt::format("cannot attach to process {}: {}", pid, said);
  if (auto known = explain_by_facts(facts, pid, what))
    return std::move(*known);
  return {
      "ptrace.denied", what,
      "run gdbserver as the user of the process, or as root (only root may trace a program that "
      "its user may run and not read); then look at sysctl kernel.yama.ptrace_scope, and in a "
      "container start it with --cap-add SYS_PTRACE"};
}

std::optional<Error> foresee_refusal(const AttachFacts& facts, std::int64_t pid) {
  AttachFacts those = facts;
  if (facts.threads.value_or(1) > 1) // its other threads can be attached to
    those.zombie = false;
  return explain_by_facts(those, pid, fmt::format("process {} could not be attached to", pid));
}

} // namespace mqbridge::rsp
