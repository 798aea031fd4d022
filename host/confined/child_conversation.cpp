#include "host/confined/child_conversation.h"

#include "host/disk/work_budget.h"
#include "rsp/packet/printable.h"
#include "rsp/seconds.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

namespace mqbridge::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_looks{10}; // at the budget of this thread
constexpr int time_to_die_ms = 200;                    // for a child that has closed its socket
constexpr std::size_t max_last_words = 200;

std::string name_of(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

} // namespace

Result<std::unique_ptr<ChildConversation>> ChildConversation::start(Errand errand) {
  auto process = ConfinedProcess::start(errand.program, sizeof(RefusedCall));
  if (!process)
    return forward(std::move(process));
  return std::unique_ptr<ChildConversation>(
      new ChildConversation(std::move(errand), std::move(*process)));
}

// The child takes one message at a time, and a socket holds several. A child whose socket is full
// has ended, or fills it with messages of its own.
Result<void> ChildConversation::send(const wire::Encoder& message) {
  if (wire::send_message(process_.socket(), message.message(), false))
    return {};
  return process_.alive() ? protocol_violation() : death();
}

Result<void> ChildConversation::send(const wire::Encoder& message,
                                     const FileDescriptor& descriptor) {
  if (wire::send_with_descriptor(process_.socket(), message.message(), descriptor.get()))
    return {};
  return process_.alive() ? protocol_violation() : death();
}

void ChildConversation::begin_answer() {
  deadline_ = Clock::now() + errand_.patience;
}

Result<std::span<const std::byte>> ChildConversation::next_message() {
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

// Waits until there is a message, or the end. A child that sends messages all the time gets no more
// time than a silent one.
Result<void> ChildConversation::wait() {
  for (;;) {
    if (auto over = work_over()) {
      end(0);
      return Failure(std::move(*over));
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
    pollfd readable[] = {{process_.socket(), POLLIN, 0}, {process_.output(), POLLIN, 0}};
    const auto timeout = std::clamp(left, std::chrono::milliseconds(0), between_looks);
    if (left.count() <= 0)
      return overrun();
    if (::poll(readable, std::size(readable), static_cast<int>(timeout.count())) > 0) {
      if (readable[0].revents != 0)
        return {};
      take_output();
    }
  }
}

void ChildConversation::take_output() {
  process_.drain_output([&](std::string_view piece) {
    last_words_ += piece;
    if (last_words_.size() > max_last_words)
      last_words_.erase(0, last_words_.size() - max_last_words);
  });
}

WaitStatus ChildConversation::end(int patience_ms) {
  take_output();
  return process_.end([](std::string_view) {}, patience_ms);
}

Failure ChildConversation::overrun() {
  end(0);
  return fail(errand_.timeout,
              fmt::format("{} took more than {:.1f} seconds for an answer while it {}", program(),
                          in_seconds(errand_.patience), errand_.doing),
              errand_.hint);
}

Failure ChildConversation::death() {
  const auto status = end(time_to_die_ms);
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGXCPU)
    return overrun();
  std::string how = "ended, and its exit status could not be had";
  if (status && !WIFSIGNALED(*status))
    how = fmt::format("ended (exit status {})", WEXITSTATUS(*status));
  else if (status)
    how = "died of " + name_of(WTERMSIG(*status));
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGSYS)
    how += ": " + refusal(*static_cast<const RefusedCall*>(process_.shared_memory()));
  if (!last_words_.empty())
    how += fmt::format("; it printed: {}", readable(last_words_));
  return fail(errand_.crashed, fmt::format("{} {} while it {}", program(), how, errand_.doing),
              errand_.hint);
}

Failure ChildConversation::protocol_violation() {
  end(0);
  return fail(errand_.protocol,
              fmt::format("{} sent an improper message while it {}", program(), errand_.doing),
              errand_.hint);
}

} // namespace mqbridge::sandbox
