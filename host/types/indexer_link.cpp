#include "host/types/indexer_link.h"

#include "host/disk/work_budget.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_looks{10}; // at this thread's budget
constexpr int time_to_die_ms = 200;                    // of its own, once it has closed its socket
constexpr std::size_t max_last_words = 200;

/// What a user can do about types that cannot be read.
std::string other_types(const std::filesystem::path& file) {
  return fmt::format("take the types from elsewhere: --types FILE (mqbridge types make); "
                     "is it damaged? readelf --debug-dump=info {}",
                     file.string());
}

std::string name_of(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

} // namespace

std::filesystem::path IndexerOptions::beside_this_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() /
         "mqbridge-indexer";
}

Result<std::unique_ptr<IndexerLink>> IndexerLink::start(const IndexerOptions& options,
                                                        std::filesystem::path file) {
  auto process = sandbox::ConfinedProcess::start(options.program, sizeof(sandbox::RefusedCall));
  if (!process)
    return forward(std::move(process));
  return std::unique_ptr<IndexerLink>(
      new IndexerLink(options, std::move(file), std::move(*process)));
}

// It takes one message at a time and a socket holds several: one that does not take this one has
// gone, or fills it with messages of its own.
Result<void> IndexerLink::send(const wire::Encoder& message) {
  if (wire::send_message(process_.socket(), message.message(), false))
    return {};
  return process_.alive() ? protocol_violation() : death();
}

Result<void> IndexerLink::send(const wire::Encoder& message, const FileDescriptor& descriptor) {
  if (wire::send_with_descriptor(process_.socket(), message.message(), descriptor.get()))
    return {};
  return process_.alive() ? protocol_violation() : death();
}

void IndexerLink::begin_answer() {
  deadline_ = Clock::now() + patience_;
}

Result<std::span<const std::byte>> IndexerLink::next_message() {
  if (auto done = wait(); !done)
    return forward(std::move(done));
  take_output();
  const auto received = wire::receive_message(process_.socket(), buffer_, false);
  using Outcome = wire::Received::Outcome;
  if (received.outcome == Outcome::closed)
    return death();
  if (received.outcome != Outcome::message)
    return protocol_violation();
  return received.message;
}

// Until there is something to receive, if only the end.
Result<void> IndexerLink::wait() {
  for (;;) {
    if (auto over = work_over()) {
      end(0);
      return Failure(std::move(*over));
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    pollfd readable[] = {{process_.socket(), POLLIN, 0}, {process_.output(), POLLIN, 0}};
    const auto timeout = std::clamp(left, std::chrono::milliseconds(0), between_looks);
    if (::poll(readable, std::size(readable), static_cast<int>(timeout.count())) > 0) {
      if (readable[0].revents != 0)
        return {};
      take_output();
    }
    if (left.count() <= 0)
      return overrun();
  }
}

void IndexerLink::take_output() {
  process_.drain_output([&](std::string_view piece) {
    last_words_ += piece;
    if (last_words_.size() > max_last_words)
      last_words_.erase(0, last_words_.size() - max_last_words);
  });
}

sandbox::WaitStatus IndexerLink::end(int patience_ms) {
  take_output();
  return process_.end([](std::string_view) {}, patience_ms);
}

Failure IndexerLink::overrun() {
  end(0);
  return fail("dwarf.timeout",
              fmt::format("reading the types of {} took more than {:.1f} seconds", file_.string(),
                          std::chrono::duration<double>(patience_).count()),
              other_types(file_));
}

Failure IndexerLink::death() {
  const auto status = end(time_to_die_ms);
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGXCPU)
    return overrun();
  std::string how = "ended, and its exit status could not be had";
  if (status && !WIFSIGNALED(*status))
    how = fmt::format("ended (exit status {})", WEXITSTATUS(*status));
  else if (status)
    how = "died of " + name_of(WTERMSIG(*status));
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGSYS)
    how += ": " +
           sandbox::refusal(*static_cast<const sandbox::RefusedCall*>(process_.shared_memory()));
  if (!last_words_.empty())
    how += fmt::format("; it printed: {}", readable(last_words_));
  return fail("dwarf.crashed",
              fmt::format("{} {} while it read the types of {}", program_.filename().string(), how,
                          file_.string()),
              other_types(file_));
}

Failure IndexerLink::protocol_violation() {
  end(0);
  return fail("dwarf.protocol",
              fmt::format("{} sent an improper message while it read the types of {}",
                          program_.filename().string(), file_.string()),
              other_types(file_));
}

} // namespace mqbridge
