#include "rsp/commands/attach.h"

#include "rsp/client/opening.h"
#include "rsp/client/shared_stub.h"
#include "rsp/commands/processes.h"
#include "rsp/commands/refused_attach.h"
#include "rsp/commands/threads.h"
#include "rsp/exchange/connection.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/printable.h"
#include "rsp/packet/signal_names.h"
#include "rsp/packet/thread_id.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

namespace mqbridge::rsp {
namespace {

std::string detach_packet(const Client& client, std::int64_t pid) {
  return client.features().multiprocess && pid > 0 ? fmt::format("D;{:x}", pid) : "D";
}

Failure exited(const Client& client, const StopReply& stop) {
  const bool by_signal = stop.kind == StopReply::Kind::signalled;
  return fail("attach.exited",
              fmt::format("the process behind {} has ended ({} {})", client.endpoint().text,
                          by_signal ? "signal" : "exit status", stop.signal_or_status),
              "start the job again, and gdbserver with it");
}

/// A gdbserver stops each thread with a SIGSTOP. Where another thread stops by a signal of its own
/// before the main one has taken its SIGSTOP, gdbserver takes that one for the program's, and hands
/// it on when it detaches: the process would stay stopped. A SIGSTOP of somebody else that comes
/// while the process is held is with the kernel, and takes effect afterwards all the same.
Result<void> keep_own_stop_back(Client& client, std::int64_t pid, const StopReply& stop) {
  if (client.features().kind != StubKind::gdbserver || stop.tid.value_or(pid) == pid)
    return {};
  auto told = client.request("QProgramSignals:" + signals_to_hand_on());
  if (!told)
    return forward(std::move(told));
  return {};
}

/// The process of a stub that did not name it in its stop reply; 0 if it does not tell at all.
Result<std::int64_t> ask_process(Client& client) {
  auto reply = client.request("qC");
  if (!reply)
    return forward(std::move(reply));
  const std::string_view text = *reply;
  const auto id = text.starts_with("QC") ? parse_thread_id(text.substr(2)) : std::nullopt;
  return id && id->pid > 0 ? id->pid : 0;
}

/// A --multi server without a process says that one has exited, with status 0.
Result<Attachment> no_process(Client& client, const StopReply& stop, RankVariables rank_variables) {
  auto extended = client.request("!");
  if (!extended)
    return forward(std::move(extended));
  const std::string processes =
      *extended == "OK" ? describe_processes(client, rank_variables) : std::string();
  if (processes.empty())
    return exited(client, stop);
  return fail(
      "attach.no_process",
      fmt::format("the server at {} is attached to no process; these run there:{}",
                  client.endpoint().text, processes),
      fmt::format("name one: mqbridge dump {}", pasteable(client.endpoint().text + "@PID")));
}

/// Takes over the process that the stub already had; `stop` is that process's stop reply.
Result<Attachment> adopt(Client& client, const StopReply& stop) {
  Attachment attachment{.pid = stop.pid.value_or(0), .stopped_before_us = true, .stop = stop};
  if (!stop.pid) {
    auto pid = ask_process(client);
    if (!pid)
      return forward(std::move(pid));
    attachment.pid = *pid;
  }
  client.set_detach_packet(detach_packet(client, attachment.pid));
  if (auto kept = keep_own_stop_back(client, attachment.pid, stop); !kept)
    return forward(std::move(kept));
  return attachment;
}

Result<Attachment> attach_current(Client& client, RankVariables rank_variables) {
  // The request goes alone where the guardian has to learn first which process is held.
  const bool must_be_named =
      client.features().multiprocess && !client.connection().holds().closing_releases();
  if (!client.answered_ahead("?") && !must_be_named) {
    client.ask_ahead("?");
    if (!client.features().multiprocess) // then `?` does not tell which process it is
      client.ask_ahead("qC");
    ask_about_process(client);
    if (auto asked = client.burst({}); !asked)
      return forward(std::move(asked));
  }
  // A stub that seems to let its target run ("OK", as in non-stop mode) is not dumped: 0x03 would
  // end a target that a gdbserver holds.
  auto reply = client.request("?");
  if (!reply)
    return forward(std::move(reply));
  auto stop = parse_stop_reply(*reply);
  if (!stop)
    return forward(std::move(stop));
  switch (stop->kind) {
  case StopReply::Kind::stopped:
    return adopt(client, *stop);
  case StopReply::Kind::exited:
    client.released();
    return no_process(client, *stop, rank_variables);
  case StopReply::Kind::signalled:
  case StopReply::Kind::none:
    break;
  }
  client.released();
  return exited(client, *stop);
}

/// Learns what an earlier client has left attached, once for all clients of the server. A gdbserver
/// must have had `!` before its second vAttach.
Result<void> take_inventory(Client& client) {
  if (client.stub()->inventory())
    return {};
  const std::vector<std::string> questions{"!", "?"};
  auto answers = client.burst(questions);
  if (!answers)
    return forward(std::move(answers));
  SharedStub::Inventory inventory;
  const auto stop = parse_stop_reply(answers->back());
  if (stop && stop->kind == StopReply::Kind::stopped) {
    auto threads = read_threads(client);
    if (!threads)
      return forward(std::move(threads));
    inventory.stop = *stop;
    for (const ThreadInfo& thread : *threads)
      inventory.threads.push_back({thread.pid, thread.tid});
  }
  client.stub()->inventory() = std::move(inventory);
  return {};
}

/// Takes over a process that is already attached, since a gdbserver refuses to attach to it again.
/// Nullopt: the process was not attached.
Result<std::optional<Attachment>> attached_before(Client& client, std::int64_t pid) {
  auto& [stop, threads] = *client.stub()->inventory();
  const auto mine = std::find_if(threads.begin(), threads.end(),
                                 [pid](const ThreadId& thread) { return thread.pid == pid; });
  if (mine == threads.end())
    return std::optional<Attachment>();
  const std::int64_t tid = mine->tid;
  std::erase_if(threads, [pid](const ThreadId& thread) { return thread.pid == pid; });
  client.set_detach_packet(detach_packet(client, pid));
  auto selected = client.request(fmt::format("Hgp{:x}.{:x}", pid, tid));
  if (!selected)
    return forward(std::move(selected));
  client.set_process(pid, tid);
  client.stub()->set_selected(*selected == "OK" ? pid : 0);
  return std::optional(Attachment{.pid = pid, .stopped_before_us = true, .stop = stop});
}

/// The server forgets the negotiation over this: other clients may need it.
Failure refused(Client& client, std::int64_t pid, const std::string& reply,
                const FileSource& files) {
  auto error =
      explain_refused_attach(client, pid, fmt::format("the server says {}", shorten(reply)), files);
  client.stub()->recover();
  return Failure(std::move(error));
}

Result<Attachment> take_attach_reply(Client& client, std::int64_t pid, const std::string& reply,
                                     const FileSource& files) {
  if (reply.empty() || is_error_reply(reply))
    client.released();
  if (reply.empty()) {
    return fail("attach.unsupported",
                fmt::format("the stub at {} cannot attach to a process", client.endpoint().text),
                "leave @PID away, or start: gdbserver --multi :PORT");
  }
  if (is_error_reply(reply))
    return refused(client, pid, reply, files);
  auto stop = parse_stop_reply(reply);
  if (!stop)
    return forward(std::move(stop));
  if (stop->kind != StopReply::Kind::stopped) {
    client.released();
    return exited(client, *stop);
  }
  client.set_process(pid, stop->tid.value_or(pid));
  client.stub()->set_selected(pid);
  if (auto kept = keep_own_stop_back(client, pid, *stop); !kept)
    return forward(std::move(kept));
  return Attachment{.pid = pid, .stopped_before_us = false, .stop = *stop};
}

/// Without multiprocess+ packets name no process, so that another client's process would be
/// mistaken for this client's.
bool holds_its_only_process(Client& client) {
  return !client.features().multiprocess && client.detach_packet().empty() &&
         !client.connection().holds().detach_packets().empty();
}

Result<Attachment> attach_process(Client& client, std::int64_t pid, const FileSource& files) {
  if (holds_its_only_process(client)) {
    return fail(
        "attach.one_process",
        fmt::format("the server at {} holds another process, and can tell it from no second "
                    "one",
                    client.endpoint().text),
        fmt::format("on the node: gdbserver --once --attach :PORT {}", pid));
  }
  if (auto known = take_inventory(client); !known)
    return forward(std::move(known));
  auto before = attached_before(client, pid);
  if (!before)
    return forward(std::move(before));
  if (*before)
    return **before;
  // Questions about the process are not sent behind vAttach: a server that refuses forgets the
  // negotiation.
  client.forget_ahead();
  // The guardian is told first: from here on the process may be stopped.
  client.set_detach_packet(detach_packet(client, pid));
  auto reply = client.request_last(fmt::format("vAttach;{:x}", pid));
  if (!reply)
    return forward(std::move(reply));
  return take_attach_reply(client, pid, *reply, files);
}

} // namespace

Result<Attachment> attach(Client& client, const AttachHelp& help) {
  const std::optional<std::int64_t> pid = client.endpoint().pid;
  return pid ? attach_process(client, *pid, help.files)
             : attach_current(client, help.rank_variables);
}

} // namespace mqbridge::rsp
