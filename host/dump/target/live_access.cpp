#include "host/dump/target/live_access.h"

#include "host/codes.h"
#include "host/disk/process_root.h"
#include "host/dump/target/node_server.h"
#include "host/dump/target/process_state.h"
#include "host/dump/values/times.h"
#include "host/mpi/launch_environment.h"
#include "host/process/live/live_process.h"
#include "rsp/client/shared_stub.h"
#include "rsp/codes.h"
#include "rsp/commands/life_check.h"
#include "rsp/commands/processes.h"
#include "rsp/commands/run_until.h"
#include "rsp/commands/vfile.h"
#include "rsp/exchange/connection.h"
#include "rsp/limits.h"
#include "rsp/packet/signal_names.h"
#include "rsp/seconds.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <variant>

namespace mqbridge {
namespace {

/// The time beyond --max-stop after which the guardian releases the target. This process needs less
/// if only the stub keeps it waiting, and it can report more of what it has read.
constexpr std::chrono::milliseconds guardians_patience{250};

/// A text about a run to a signal: the signal that stopped it, if any would do, and signals that
/// the target got before (warning run.stopped). Nullopt: it went as asked.
std::optional<Error> describe_run(const rsp::RunReport& run, const rsp::RunUntil& until) {
  if (until.signal && run.passed.empty() && !run.signal_lost)
    return std::nullopt;
  const double seconds = in_seconds(run.ran);
  auto text = fmt::format("the process ran {:.1f} s until {} stopped it", seconds,
                          rsp::signal_name(run.signal));
  std::string passed;
  for (const auto& [signal, times] : run.passed)
    passed += fmt::format("{}{} {}", passed.empty() ? "" : ", ", times, rsp::signal_name(signal));
  if (!passed.empty())
    text += fmt::format("; passed on before: {}", passed);
  if (!run.signal_lost)
    return Error{codes::run_stopped, std::move(text), {}};
  text += fmt::format("; {} itself is lost: QEMU cannot pass it on over a Unix socket",
                      rsp::signal_name(run.signal));
  return Error{codes::run_stopped, std::move(text),
               "start it with a port: qemu-ARCH -g PORT PROGRAM"};
}

/// A process that a stub started and nobody let run has no queues yet: if `attachment` looks like
/// one and nothing let it run, the hint that goes with the error (one line).
std::optional<std::string> hint_at_entry(const rsp::Attachment& attachment) {
  constexpr int sigtrap = 5; // what a start under ptrace, or QEMU's, looks like
  if (!attachment.stopped_before_us || attachment.stop.signal_or_status != sigtrap)
    return std::nullopt;
  return "if its stub has started it and it stands at its entry, let it run until it raises a "
         "signal: --run-until signal[=NAME]";
}

} // namespace

LiveAccess::LiveAccess(const TargetSpec& target, const SharedTools& tools,
                       std::shared_ptr<rsp::SharedStub>& stub)
    : target_(target), process_(std::get_if<NodeProcess>(&target.where)), tools_(tools),
      endpoint_(process_ != nullptr ? server_of(target, tools)
                                    : std::get<rsp::Endpoint>(target.where)),
      stub_(stub) {
  if (process_ == nullptr)
    return;
  endpoint_.pid = process_->pid;
  if (process_->node.launcher == Launcher::local)
    pid_here_ = process_->pid;
}

void LiveAccess::begin_hold(Clock::time_point since) {
  contact_ = since;
  stopped_at_ =
      std::chrono::system_clock::now() -
      std::chrono::duration_cast<std::chrono::system_clock::duration>(Clock::now() - since);
}

Result<void> LiveAccess::connect(std::stop_token stop) {
  stop_ = std::move(stop);
  if (process_ != nullptr && process_->node == Node{} && process_->pid == ::getpid())
    return fail("attach.self", fmt::format("process {} is mqbridge itself", process_->pid),
                "to see the MPI jobs of this host: mqbridge ranks");
  begin_hold();
  auto client = connect_or_share();
  if (!client)
    return forward(std::move(client));
  client_ = std::move(*client);
  const bool on_stdio = std::holds_alternative<rsp::CommandEndpoint>(endpoint_.where);
  if (on_stdio)
    begin_hold(client_->heard_since());
  else // one that is shared was made before, for another target
    begin_hold(std::max(contact_, client_->stub()->opened()));
  if (endpoint_.pid)
    stub_ = client_->stub();
  if (process_ == nullptr)
    return {};
  client_->released(); // it is attached to nothing
  if (auto entered = enter_container(); !entered)
    return entered;
  return await_interruptible(threads(), *endpoint_.pid, stop_);
}

Result<std::unique_ptr<rsp::Client>> LiveAccess::connect_or_share() {
  if (stub_ && stub_->usable() && endpoint_.pid)
    return rsp::Client::share(stub_, endpoint_);
  const bool left = stub_ && stub_->left_after_refusal();
  stub_.reset(); // it talks to one client at a time
  if (process_ != nullptr)
    return start_server(endpoint_, process_->node, tools_, stop_);
  const auto& options = tools_.options;
  auto client = rsp::Client::connect(endpoint_, {options.connect_timeout, options.silence_timeout,
                                                 options.trace, &tools_.guardian, stop_});
  if (!client && left)
    return fail("attach.server_left",
                fmt::format("{}: the server ended when it could not attach to the process before "
                            "this one, as gdbserver --once does",
                            endpoint_.text),
                "on the node: gdbserver --multi :PORT    (without --once)");
  return client;
}

/// The server runs inside of the container: the process has another number there.
Result<void> LiveAccess::enter_container() {
  if (node_command_of(target_, tools_).empty())
    return {};
  const auto inside = [this](std::string_view path) {
    return rsp::read_file_start(*client_, path, rsp::limits::proc_file);
  };
  const auto pid = pid_inside(node_files(process_->node, tools_, stop_), inside, process_->pid);
  if (!pid)
    return Failure(pid.error());
  endpoint_.pid = *pid;
  client_ = rsp::Client::share(stub_, endpoint_);
  return {};
}

ThreadFiles LiveAccess::threads() {
  return process_->node.launcher == Launcher::local && node_command_of(target_, tools_).empty()
             ? threads_here(process_->pid)
             : threads_there(*client_, *endpoint_.pid);
}

Result<rsp::Attachment> LiveAccess::attach() {
  const auto first_contact = std::pair(contact_, stopped_at_);
  if (endpoint_.pid) // it is stopped from here on; any other was from first contact on
    begin_hold();
  limit_hold();
  rsp::AttachHelp help{rank_variables(), {}};
  // Inside of a container the node's /proc would tell of another process.
  if (process_ != nullptr && node_command_of(target_, tools_).empty())
    help.files = node_files(process_->node, tools_, stop_);
  auto attachment = attach_to_process(help);
  if (!attachment && process_ != nullptr && attachment.error().code == codes::stub_timeout)
    if (auto asleep = explain_silence(threads_here(process_->pid), process_->pid);
        asleep && process_->node.launcher == Launcher::local)
      return Failure(std::move(*asleep));
  if (attachment && attachment->stopped_before_us) {
    std::tie(contact_, stopped_at_) = first_contact;
    limit_hold();
  }
  return attachment;
}

/// If the main thread has ended (pthread_exit), no debugger can attach to the process, but to each
/// of its other threads.
Result<rsp::Attachment> LiveAccess::attach_to_process(const rsp::AttachHelp& help) {
  if (!endpoint_.pid || process_state_ != "Z")
    return rsp::attach(*client_, help);
  constexpr int most_tries = 10;
  const std::int64_t pid = *endpoint_.pid;
  pid_ = pid;
  for (int tries = 1;; ++tries) {
    const auto threads = rsp::read_thread_numbers(*client_, pid);
    if (!threads)
      return Failure(threads.error());
    const auto living =
        std::ranges::find_if(*threads, [pid](std::int64_t thread) { return thread != pid; });
    if (living == threads->end())
      return rsp::attach(*client_, help); // which says that the process has ended
    take_for_process(*living);
    auto attachment = attach_to_threads(pid, help);
    if (attachment)
      warnings_.push_back(
          {"target.main_ended",
           fmt::format("the main thread of process {} has ended (pthread_exit): {} other thread{} "
                       "looked at",
                       pid, attachment->other_threads.size() + 1,
                       attachment->other_threads.empty() ? " was" : "s were"),
           {}});
    if (attachment || tries == most_tries || !has_ended(*living, pid, attachment.error()))
      return attachment;
  }
}

/// From here on `client_` is that of this thread.
void LiveAccess::take_for_process(std::int64_t thread) {
  endpoint_.pid = thread;
  client_ = rsp::Client::share(client_->stub(), endpoint_);
  if (is_here() && node_command_of(target_, tools_).empty()) {
    pid_here_ = thread;
    ran_since_ = start_of_running(thread);
  }
  process_state_ = remote_process_state(*client_);
  begin_hold();
  limit_hold();
}

/// A thread of the process `pid`. The list may still have one that is just ending.
bool LiveAccess::has_ended(std::int64_t thread, std::int64_t pid, const Error& refused) {
  if (refused.code == codes::attach_no_such_process || refused.code == codes::attach_exited)
    return true;
  const auto threads = rsp::read_thread_numbers(*client_, pid);
  return threads && std::ranges::find(*threads, thread) == threads->end();
}

/// A stub takes each thread for a process of its own.
Result<rsp::Attachment> LiveAccess::attach_to_threads(std::int64_t pid,
                                                      const rsp::AttachHelp& help) {
  auto first = rsp::attach(*client_, help);
  if (!first)
    return first;
  if (auto done = attach_to_others(pid, help, first->other_threads); !done) {
    other_threads_.clear();
    static_cast<void>(rsp::detach(*client_)); // what failed before is said
    return forward(std::move(done));
  }
  return first;
}

/// Threads that still run may start others, and end.
Result<void> LiveAccess::attach_to_others(std::int64_t pid, const rsp::AttachHelp& help,
                                          std::vector<std::int64_t>& threads) {
  std::set<std::int64_t> known = {pid, *endpoint_.pid};
  for (bool more = true; more;) {
    const auto listed = rsp::read_thread_numbers(*client_, pid);
    if (!listed)
      return Failure(listed.error());
    more = false;
    for (const std::int64_t thread : *listed) {
      if (!known.insert(thread).second)
        continue;
      more = true;
      auto endpoint = endpoint_;
      endpoint.pid = thread;
      auto other = rsp::Client::share(client_->stub(), endpoint);
      other->set_deadline(deadline());
      if (auto attached = rsp::attach(*other, help); attached) {
        other_threads_.push_back(std::move(other));
        threads.push_back(thread);
      } else if (!has_ended(thread, pid, attached.error())) {
        return forward(std::move(attached));
      }
    }
  }
  return {};
}

Result<void> LiveAccess::run(rsp::Attachment& attachment) {
  client_->set_deadline(std::nullopt);
  client_->connection().holds().set_guardians_deadline(std::nullopt);
  const auto& until = *tools_.options.run_until;
  const auto report = rsp::run_until(*client_, until, attachment);
  if (!report)
    return Failure(report.error());
  begin_hold();
  limit_hold();
  if (auto warning = describe_run(*report, until))
    warnings_.push_back(std::move(*warning));
  return {};
}

Result<OpenedProcess> LiveAccess::open() {
  if (auto state = remote_process_state(*client_))
    process_state_ = std::move(state);
  if (client_->features().held)
    process_state_ = "t";
  if (is_here())
    ran_since_ = start_of_running(pid_here_);
  auto attachment = attach();
  if (!attachment) {
    mend_stop();
    return forward(std::move(attachment));
  }
  if (process_ != nullptr) // whatever it is called inside of a container
    pid_ = process_->pid;
  else if (!pid_ && attachment->pid != 0)
    pid_ = attachment->pid;
  if (process_state_ && pid_)
    if (auto warning = stopped_process_warning(*process_state_, *pid_))
      warnings_.push_back(std::move(*warning));
  OpenedProcess opened;
  if (!tools_.options.run_until)
    opened.entry_hint = hint_at_entry(*attachment);
  else if (auto done = run(*attachment); !done)
    return forward(std::move(done));
  held_ = true;
  opened.stopped_before_us = attachment->stopped_before_us;
  opened.source = std::make_unique<LiveProcess>(*client_, *attachment, root(), pid_here_);
  return opened;
}

/// For a gdbserver of ours that did not do what it was asked to.
void LiveAccess::mend_stop() {
  if (!ran_since_)
    return;
  if (auto warning = mqbridge::mend_stop(pid_here_, *ran_since_))
    warnings_.push_back(std::move(*warning));
}

/// The file system of a process of this host; nullptr: it is ours, or the process runs elsewhere.
std::shared_ptr<const ProcessRoot> LiveAccess::root() {
  if (!is_here())
    return nullptr;
  auto root = ProcessRoot::of(pid_here_);
  if (root)
    return std::move(*root);
  warnings_.push_back(std::move(root).error());
  return nullptr;
}

/// Most stubs are asked together with the detach. This is for stubs that take one request at a
/// time, before a result is believed, and for a process of which nothing could be read.
void LiveAccess::look_for_life(bool any_error) {
  const bool nothing_read = client_->life().question().empty();
  if (any_error ? nothing_read : !client_->asks_ahead())
    rsp::look_for_life(*client_);
}

std::optional<Release> LiveAccess::release(StoppedProcess* process, bool any_error) {
  if (!held_)
    return std::nullopt;
  look_for_life(any_error);
  Release release;
  release.done = process != nullptr ? process->release() : rsp::detach(*client_);
  for (const auto& thread : other_threads_)
    if (auto done = rsp::detach(*thread); !done && release.done)
      release.done = std::move(done);
  if (!release.done)
    mend_stop();
  if (client_->life().ended())
    release.died = rsp::died(endpoint_);
  const auto for_us =
      client_->connection().holds().taken_over(); // the guardian, where we did not in time
  release.held = {contact_, for_us.value_or(Clock::now())};
  release.stopped_at = rfc3339(stopped_at_);
  return release;
}

rsp::Features LiveAccess::features() const {
  return client_ ? client_->features() : rsp::Features{};
}

rsp::Counters LiveAccess::counters() const {
  return client_ ? client_->counters() : rsp::Counters{};
}

/// Tells the guardian, too: a slow file of this host may keep us from noticing the time.
void LiveAccess::limit_hold() {
  if (const auto end = limit(1.0))
    client_->connection().holds().set_guardians_deadline(*end + guardians_patience);
}

std::optional<LiveAccess::Clock::time_point> LiveAccess::deadline(double share) const {
  const auto& max_stop = tools_.options.max_stop;
  if (!max_stop)
    return std::nullopt;
  const auto since =
      tools_.first_stop != nullptr ? std::min(tools_.first_stop->load(), contact_) : contact_;
  return since + std::chrono::duration_cast<Clock::duration>(*max_stop * share);
}

std::optional<LiveAccess::Clock::time_point>
LiveAccess::limit(double share, std::optional<Clock::time_point> at_most) {
  const auto end = deadline(share);
  client_->set_deadline(end && at_most ? std::min(end, at_most) : end ? end : at_most);
  return end;
}

} // namespace mqbridge
