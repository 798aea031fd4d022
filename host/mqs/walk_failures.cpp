#include "host/mqs/walk_failures.h"

#include "host/codes.h"
#include "host/confined/confined_process.h"
#include "host/mqs/walk.h"
#include "rsp/packet/printable.h"

#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sys/wait.h>

namespace mqbridge {
namespace {

constexpr auto corrupt_hint =
    "the MPI library's data may be corrupt, or of another version than the DLL; see dll_messages";

/// The worker wrote the index: it may be anything.
template <std::size_t count>
std::string_view name_at(const std::array<std::string_view, count>& names, std::uint32_t index) {
  return index < count ? names[index] : std::string_view("an unknown function");
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

Error killed(const std::string& path, int signal, const wire::SharedState& shared) {
  if (signal == SIGXCPU)
    return {codes::dll_timeout,
            fmt::format("{} used up its processor time {}", path, where(shared)), corrupt_hint};
  if (signal == SIGSYS)
    return {
        "dll.forbidden",
        fmt::format("{}: {}; made {}", path, sandbox::refusal(shared.refused_call), where(shared)),
        "no debug DLL needs it: make sure where this one comes from; --no-sandbox lets it"};
  return {"dll.crashed", fmt::format("{} died of {} {}", path, signal_name(signal), where(shared)),
          corrupt_hint};
}

} // namespace

std::string where(const wire::SharedState& shared) {
  const auto function = name_at(wire::dll_functions, shared.dll_function.load());
  const auto callback = name_at(wire::callbacks, shared.callback.load());
  std::string text = function.empty() ? "outside of its functions" : fmt::format("in {}", function);
  if (callback.empty())
    return text;
  if (callback != "mqs_fetch_data")
    return text + fmt::format(" (last callback: {})", callback);
  return text + fmt::format(" (last callback: {} of {:#x})", callback, shared.last_address.load());
}

Error reported_failure(const std::filesystem::path& dll, wire::FailureKind kind,
                       const std::string& raw_text) {
  const std::string path = dll.string();
  const std::string text = printable(raw_text);
  switch (kind) {
  case wire::FailureKind::load:
    return {"dll.load", fmt::format("cannot load {}: {}", path, text),
            fmt::format("ldd {}    shows what it lacks", pasteable(path))};
  case wire::FailureKind::missing_function:
    return {"dll.missing_function", fmt::format("{} lacks {}", path, text),
            "it is no MPI debug DLL; give the right one with --dll PATH"};
  case wire::FailureKind::version:
    return {"dll.version",
            fmt::format("{} has compatibility level {}; levels 2 and 3 are known", path, text),
            "a debug DLL of another version of this MPI: --dll PATH"};
  case wire::FailureKind::width:
    return {"dll.width",
            fmt::format("{} was compiled with a {}-byte mqs_taddr_t; the worker's has {} bytes",
                        path, text, sizeof(std::uint64_t)),
            "a 64-bit build of the debug DLL: --dll PATH"};
  case wire::FailureKind::no_queues:
    return {"dll.no_queues", fmt::format("{} finds no queues: {}", path, text),
            "types or symbols of the MPI library may be missing: mqbridge doctor TARGET tells"};
  case wire::FailureKind::failed:
    return {"dll.failed", fmt::format("{}: {}", path, text), corrupt_hint};
  case wire::FailureKind::sandbox:
    return sandbox::unavailable(fmt::format("the process of {}", path), raw_text);
  case wire::FailureKind::exchanged:
    return {"dll.untrusted",
            fmt::format("{} was exchanged or changed after it had been checked: it is not loaded",
                        path),
            "run it again when nobody works on that file"};
  case wire::FailureKind::no_process:
    return {"worker.start", fmt::format("no process can be started that loads {}: {}", path, text),
            "ulimit -u -v    shows the limits of this process; --jobs 1 needs least"};
  case wire::FailureKind::no_handles:
    return {"dll.no_handles",
            fmt::format("{} tells nothing of this process's handles: {}", path, text),
            "types or symbols of the MPI library may be missing: mqbridge doctor TARGET tells"};
  case wire::FailureKind::handle_version:
    return {"dll.version",
            fmt::format("{} has version {} of the interface for handles; version 1 is known", path,
                        text),
            "another debug DLL of this MPI: --dll PATH; without it mqbridge uses its own"};
  case wire::FailureKind::garbage:
    return {"dll.failed", fmt::format("{} answered what makes no sense: {}", path, text),
            corrupt_hint};
  case wire::FailureKind::limit:
    return {"dll.limit", fmt::format("{} lists without end: {}", path, text), corrupt_hint};
  }
  return {codes::dll_protocol, fmt::format("{}: the worker gave an unknown reason: {}", path, text),
          corrupt_hint};
}

Error death(const std::filesystem::path& dll, sandbox::WaitStatus status,
            const wire::SharedState& shared) {
  const std::string path = dll.string();
  if (!status)
    return {"dll.crashed",
            fmt::format("{} ended its process {}; how could not be found out, as the system did "
                        "not keep its exit status",
                        path, where(shared)),
            "whoever starts mqbridge must not ignore SIGCHLD"};
  if (WIFSIGNALED(*status))
    return killed(path, WTERMSIG(*status), shared);
  if (shared.dll_function.load() == 0 && shared.batch_size.load() == 0)
    return {"worker.start",
            fmt::format("the worker process ended at once (exit status {})", WEXITSTATUS(*status)),
            "mqbridge-worker is damaged or of another version: build or install it again"};
  return {"dll.crashed",
          fmt::format("{} ended its process (exit status {}) {}", path, WEXITSTATUS(*status),
                      where(shared)),
          corrupt_hint};
}

Error overrun(const std::filesystem::path& dll, std::chrono::milliseconds limit,
              const wire::SharedState& shared) {
  return {codes::dll_timeout,
          fmt::format("{} did not finish within {:.1f} s of its own, {}", dll.string(),
                      static_cast<double>(limit.count()) / 1000, where(shared)),
          "a list in the target's memory may be a cycle; --max-operations N ends a queue earlier"};
}

Error interrupted() {
  return {codes::interrupted, "interrupted while the queues were walked"};
}

Error held_too_long() {
  return {"walk.max_stop", "the time that the target may be held was over during the walk",
          "--max-stop S with more seconds, or --max-operations N with fewer operations"};
}

Error walk_too_long(const std::filesystem::path& dll, const wire::SharedState& shared) {
  return {"walk.max_walk",
          fmt::format("the walk with {} was not through when its time was over; it was {}",
                      dll.string(), where(shared)),
          "--max-walk S with more seconds; --max-operations N, --comm NAME and --queue leave less "
          "to walk"};
}

Error limit_met(const std::filesystem::path& dll, WalkLimit limit) {
  constexpr auto less = "--queue, --comm NAME, --tag N and --peer N keep less";
  if (limit == WalkLimit::requests)
    return {codes::queue_damaged,
            fmt::format("{} lists more operations than the MPI library has requests: one of its "
                        "lists does not end",
                        dll.string()),
            "dump again: a process that was stopped in the middle of a change has changed it by "
            "then. If it stays so, its data are corrupt"};
  if (limit == WalkLimit::operations)
    return {"walk.max_operations",
            fmt::format("{} lists more operations in this rank than one may have: {}, or four "
                        "times --max-operations where that is more",
                        dll.string(), most_operations_of_rank(0)),
            "the MPI library's data may be corrupt, so that its lists do not end; else: "
            "--max-operations N with more"};
  if (limit == WalkLimit::rank_bytes)
    return {"walk.max_bytes",
            fmt::format("what {} lists takes more memory here than one rank may", dll.string()),
            fmt::format("--max-bytes N with more; {}", less)};
  return {"walk.max_bytes",
          fmt::format("what {} lists takes more memory than is left here for all ranks together",
                      dll.string()),
          fmt::format("{}; fewer targets at once, or a machine with more memory", less)};
}

Error protocol_violation(const std::filesystem::path& dll) {
  return {codes::dll_protocol,
          fmt::format("{} broke its worker process: it sent an improper message", dll.string()),
          corrupt_hint};
}

} // namespace mqbridge
