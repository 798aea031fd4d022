#include "rsp/guardian/guardian.h"

#include "rsp/guardian/guardian_process.h"
#include "rsp/guardian/hold_gate.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace guardian;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The most guardians that are started in any ten seconds: somebody may kill one after the other,
/// or the machine may have no memory for them.
constexpr std::size_t most_restarts = 5;
constexpr std::chrono::seconds restart_period{10};
/// Time between two looks at the guardian: it may be suspended, or missing although connections are
/// watched. A guardian that ends is noticed at once.
constexpr milliseconds look_interval{1'000};

/// The file behind Takeovers. There is none if files may not be so long (ulimit -f): then the
/// guardian does without, and takes nothing from an mqbridge that lives. ftruncate() beyond the
/// limit ends the process by SIGXFSZ, for a file in memory too.
UniqueFd make_takeovers_file() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < sizeof(Takeovers))
    return {};
  UniqueFd file(memfd_create("mqbridge-guardian", MFD_CLOEXEC));
  if (file && ftruncate(file.get(), sizeof(Takeovers)) != 0)
    return {};
  return file;
}

Takeovers* map(const UniqueFd& file) {
  if (!file)
    return nullptr;
  void* const memory =
      mmap(nullptr, sizeof(Takeovers), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Takeovers*>(memory);
}

Message deadline_message(std::uint32_t handle, Moment deadline) {
  return {
      Operation::set_deadline, handle, {reinterpret_cast<const char*>(&deadline), sizeof deadline}};
}

} // namespace

struct Guardian::Impl {
  /// The facts about a connection that a new guardian has to be told.
  struct Watched {
    UniqueFd connection; ///< a duplicate: the original's owner may be about to close it
    std::vector<std::string> detach_packets{"D"};
    Manner manner = Manner::detach;
    Moment deadline = never;
  };

  Impl(std::filesystem::path path, HoldGate* gate)
      : program(std::move(path)), holds(gate), file(make_takeovers_file()), takeovers(map(file)),
        wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (takeovers != nullptr)
      munmap(takeovers, sizeof(Takeovers));
  }

  Result<void> begin();
  void end();

  bool tell(const Message& message, int descriptor = -1);
  bool hand_over(std::uint32_t handle, const Watched& connection);
  void replace();
  bool may_restart();
  void look_after(const std::stop_token& ended);
  bool hangs_up(int channel, milliseconds timeout) const;
  void count(Manner before, Manner now) const;
  bool taken(std::uint32_t handle) const {
    return takeovers != nullptr && takeovers->taken(handle);
  }

  const std::filesystem::path program;
  HoldGate* const holds;
  const UniqueFd file;
  Takeovers* const takeovers;
  const UniqueFd wake;

  mutable std::mutex mutex; ///< guards the members that follow
  std::optional<GuardianProcess> process;
  Error why_none; ///< while there is no process
  std::map<std::uint32_t, Watched> watched;
  std::uint32_t next_handle = 1;
  std::deque<Clock::time_point> restarts; ///< within the last period

  std::jthread attendant;
};

Result<void> Guardian::Impl::begin() {
  auto started = GuardianProcess::start(program, file.get());
  if (!started)
    return forward(std::move(started));
  process.emplace(std::move(*started));
  if (!wake)
    return {};
  try {
    attendant = std::jthread([this](const std::stop_token& ended) { look_after(ended); });
  } catch (const std::system_error&) {
    // As without `wake`, a guardian that dies is noticed only at the next message.
  }
  return {};
}

void Guardian::Impl::end() {
  attendant.request_stop();
  eventfd_write(wake.get(), 1);
  if (attendant.joinable())
    attendant.join();
  const std::lock_guard lock(mutex);
  while (process) {
    const bool done = process->finish();
    process.reset();
    if (!done && !watched.empty())
      replace();
  }
}

/// Tells the guardian, or the next one if this one is lost. The caller holds the mutex. False:
/// there is no guardian.
bool Guardian::Impl::tell(const Message& message, int descriptor) {
  if (process && process->send(message, descriptor))
    return true;
  replace(); // which tells the new one everything
  return process.has_value();
}

bool Guardian::Impl::hand_over(std::uint32_t handle, const Watched& connection) {
  // The "D" is dropped at the end, so that there always is a packet.
  bool told = process->send(Message(Operation::watch, handle, "D"), connection.connection.get());
  bool keeps_first = false;
  for (const std::string& packet : connection.detach_packets) {
    keeps_first |= packet == "D";
    told = told && process->send(Message(Operation::add_detach, handle, packet));
  }
  if (!keeps_first)
    told = told && process->send(Message(Operation::drop_detach, handle, "D"));
  const char manner = static_cast<char>(connection.manner);
  told = told && process->send(Message(Operation::set_manner, handle, {&manner, 1}));
  if (told && connection.deadline != never) // the last message: it may have passed
    told = process->send(deadline_message(handle, connection.deadline));
  return told;
}

bool Guardian::Impl::may_restart() {
  const auto now = Clock::now();
  while (!restarts.empty() && now - restarts.front() > restart_period)
    restarts.pop_front();
  if (restarts.size() >= most_restarts)
    return false;
  restarts.push_back(now);
  return true;
}

/// The caller holds the mutex. Afterwards there is a guardian that knows all connections, or
/// `why_none` tells why there is none.
void Guardian::Impl::replace() {
  constexpr std::string_view hint =
      "look who kills mqbridge-guardian (dmesg, if it is the machine for want of memory); for "
      "targets that run on by themselves: gdbserver --once --attach";
  if (process) {
    // The old guardian may only be stopped. Left to itself, it would go on later, find its channel
    // closed, and release the targets.
    process->destroy();
    process.reset();
    why_none = {"guardian.lost",
                fmt::format("mqbridge-guardian was killed {} times within {} s, and is not started "
                            "again for now",
                            most_restarts + 1, restart_period.count()),
                std::string(hint)};
  }
  while (!process && may_restart()) {
    auto started = GuardianProcess::start(program, file.get());
    if (!started) {
      why_none = {"guardian.lost",
                  fmt::format("mqbridge-guardian was killed, and {}", started.error().message),
                  std::string(hint)};
      break;
    }
    process.emplace(std::move(*started));
    const bool told = std::all_of(watched.begin(), watched.end(), [this](const auto& entry) {
      return hand_over(entry.first, entry.second);
    });
    if (!told) {
      process->destroy();
      process.reset();
    }
  }
  eventfd_write(wake.get(), 1);
}

/// Notices at once when the guardian dies: this process may be the next.
void Guardian::Impl::look_after(const std::stop_token& ended) {
  while (!ended.stop_requested()) {
    int channel = -1;
    bool lacking = false;
    {
      const std::lock_guard lock(mutex);
      if (process)
        channel = process->channel();
      lacking = !process && !watched.empty();
    }
    const auto retry_at = Clock::now() + look_interval;
    hangs_up(channel, look_interval);
    const std::lock_guard lock(mutex);
    if (process)
      process->resume();
    // Somebody else may have replaced it meanwhile.
    if (process ? hangs_up(process->channel(), milliseconds(0))
                : lacking && Clock::now() >= retry_at)
      replace();
  }
}

/// Whether the guardian is gone. Waits for that until `timeout` is over, or until we are woken.
bool Guardian::Impl::hangs_up(int channel, milliseconds timeout) const {
  // The guardian sends nothing any more: if there is something to read, it is the end.
  pollfd polled[]{{channel, POLLIN, 0}, {wake.get(), POLLIN, 0}};
  poll(polled, 2, static_cast<int>(timeout.count()));
  eventfd_t woken = 0;
  eventfd_read(wake.get(), &woken);
  return polled[0].revents != 0;
}

/// Counts held targets: a target that runs is not held.
void Guardian::Impl::count(Manner before, Manner now) const {
  if (holds == nullptr || (before == Manner::wait) == (now == Manner::wait))
    return;
  if (now == Manner::wait)
    holds->leave();
  else
    holds->enter_at_once();
}

Result<std::unique_ptr<Guardian>> Guardian::start(const std::filesystem::path& program,
                                                  HoldGate* holds) {
  auto impl = std::make_unique<Impl>(program, holds);
  if (auto begun = impl->begin(); !begun)
    return forward(std::move(begun));
  return std::unique_ptr<Guardian>(new Guardian(std::move(impl)));
}

Guardian::Guardian(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Guardian::~Guardian() {
  impl_->end();
}

Result<std::uint32_t> Guardian::watch(int fd) {
  if (impl_->holds != nullptr)
    impl_->holds->enter();
  const auto refuse = [this](Error error) {
    if (impl_->holds != nullptr)
      impl_->holds->leave();
    return Failure(std::move(error));
  };
  UniqueFd duplicate(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!duplicate)
    return refuse({"guardian.watch",
                   fmt::format("cannot duplicate the connection for mqbridge-guardian: {}",
                               std::generic_category().message(errno)),
                   "raise the limit of open files (ulimit -n)"});
  const std::lock_guard lock(impl_->mutex);
  const std::uint32_t handle = impl_->next_handle++;
  impl_->watched.emplace(handle, Impl::Watched{std::move(duplicate)});
  if (impl_->tell(Message(Operation::watch, handle, "D"), fd))
    return handle;
  impl_->watched.erase(handle);
  return refuse(impl_->why_none);
}

// In all of these functions trouble() tells of a lost guardian: its loss does not spoil this dump.

void Guardian::add_detach_packet(std::uint32_t handle, const char* payload) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->watched.find(handle);
  if (entry == impl_->watched.end() || std::strlen(payload) > max_detach_payload)
    return;
  std::erase(entry->second.detach_packets, payload);
  entry->second.detach_packets.emplace_back(payload);
  static_cast<void>(impl_->tell(Message(Operation::add_detach, handle, payload)));
}

void Guardian::drop_detach_packet(std::uint32_t handle, const char* payload) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->watched.find(handle);
  if (entry == impl_->watched.end())
    return;
  std::erase(entry->second.detach_packets, payload);
  static_cast<void>(impl_->tell(Message(Operation::drop_detach, handle, payload)));
}

void Guardian::set_manner(std::uint32_t handle, Manner manner) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->watched.find(handle);
  if (entry == impl_->watched.end())
    return;
  impl_->count(std::exchange(entry->second.manner, manner), manner);
  const char letter = static_cast<char>(manner);
  static_cast<void>(impl_->tell(Message(Operation::set_manner, handle, {&letter, 1})));
}

void Guardian::set_deadline(std::uint32_t handle,
                            std::optional<std::chrono::steady_clock::time_point> deadline) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->watched.find(handle);
  if (entry == impl_->watched.end())
    return;
  const Moment moment = deadline ? moment_of(*deadline) : never;
  if (std::exchange(entry->second.deadline, moment) != moment)
    static_cast<void>(impl_->tell(deadline_message(handle, moment)));
  // This comes behind the message: the deadline before it was another target's.
  if (impl_->takeovers != nullptr)
    impl_->takeovers->give_back(handle);
}

void Guardian::keep(std::uint32_t handle) {
  if (impl_->takeovers != nullptr)
    static_cast<void>(impl_->takeovers->keep(handle));
}

void Guardian::forget(std::uint32_t handle) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->watched.find(handle);
  if (entry == impl_->watched.end())
    return;
  if (impl_->holds != nullptr && entry->second.manner != Manner::wait)
    impl_->holds->leave();
  const Message message(Operation::forget, handle, {});
  if (!impl_->taken(handle)) {
    impl_->watched.erase(entry);
    static_cast<void>(impl_->tell(message));
    return;
  }
  // The entry is erased last: if the guardian that has taken it is found dead, the next one
  // releases it.
  static_cast<void>(impl_->tell(message));
  impl_->watched.erase(entry);
}

std::optional<std::chrono::steady_clock::time_point>
Guardian::taken_over(std::uint32_t handle) const {
  if (!impl_->taken(handle))
    return std::nullopt;
  return time_of(impl_->takeovers->since(handle));
}

std::optional<Error> Guardian::trouble() const {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->process)
    return std::nullopt;
  return impl_->why_none;
}

} // namespace mqbridge::rsp
