#include "host/mqs/worker_session.h"

#include "host/codes.h"
#include "host/confined/child.h"
#include "host/mqs/lookups.h"
#include "host/mqs/walk_failures.h"
#include "host/mqs/worker_process.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How long a wait for the worker may keep a stop request waiting.
constexpr milliseconds stop_latency{50};
/// How often the loader is looked at where the kernel does not tell when it ends.
constexpr milliseconds loader_latency{1};
/// Messages that are taken from the worker between two replies of the stub, which must not have to
/// wait until its buffers are full.
constexpr int most_meanwhile = 8;
/// For the DLL's destructors, after everything has been read.
constexpr int farewell_ms = 500;
/// RLIMIT_CPU beyond the parent's own limit: the parent's clock ends a walk first, and says more.
constexpr std::uint32_t spare_cpu_seconds = 5;
/// What the DLL itself may have: Open MPI's takes some kilobytes a communicator, and groups of
/// wire::max_group_size ranks fit many times.
constexpr std::uint64_t worker_own_memory = std::uint64_t{1} << 30;
/// For its program, the DLL and their libraries, and the stack. What is mapped beside that and the
/// pages counts as its own, too: RLIMIT_DATA has no word for what is mapped as shared.
constexpr std::uint64_t worker_programs = std::uint64_t{256} << 20;

/// The time a worker takes of its own: all but what the parent spends on its behalf.
class WorkerClock {
public:
  milliseconds used() const {
    return std::chrono::duration_cast<milliseconds>(Clock::now() - start_ - elsewhere_);
  }
  template <class Work>
  auto without(Work work) {
    const auto from = Clock::now();
    auto result = work();
    elsewhere_ += Clock::now() - from;
    return result;
  }

private:
  Clock::time_point start_ = Clock::now();
  Clock::duration elsewhere_{};
};

/// Serves one worker until it is done, dead or out of time.
class Session {
public:
  Session(const WorkerRequest& request, const wire::StartMessage& start, WorkerProcess& worker,
          BatchReader& results, WorkerOutcome& outcome, MessageLog& log)
      : request_(request), start_(start), worker_(worker), results_(results), outcome_(outcome),
        log_(log), lookups_(request.dll, request.space, request.store, log_) {
    if (request_.store == nullptr)
      return;
    request_.store->set_worker_record(&worker_.shared().touched);
    request_.store->set_onlooker([this] { return serve_meanwhile(); });
  }
  ~Session() {
    if (request_.store == nullptr)
      return;
    request_.store->set_worker_record(nullptr);
    request_.store->set_onlooker(nullptr);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void run() {
    if (send_start()) {
      if (request_.meanwhile)
        clock_.without([&] { return request_.meanwhile(), 0; });
      while (!over_)
        step();
    }
    conclude();
  }

private:
  bool send_start() {
    const auto message = start_.encode();
    if (request_.store == nullptr)
      return wire::send_message(worker_.socket(), message, false);
    return wire::send_with_descriptor(worker_.socket(), message, request_.store->descriptor());
  }

  void step() {
    if (out_of_time())
      return;
    std::array<pollfd, 3> ready = {{{worker_.socket(), POLLIN, 0},
                                    {worker_.output(), POLLIN, 0},
                                    {loader_ ? loader_->descriptor() : -1, POLLIN, 0}}};
    auto left = std::max(request_.cpu_limit - clock_.used(), milliseconds(1));
    for (const auto& end : {request_.deadline, request_.walk_end})
      if (end)
        left =
            std::clamp(std::chrono::ceil<milliseconds>(*end - Clock::now()), milliseconds(0), left);
    const auto latency = loader_ && loader_->descriptor() < 0 ? loader_latency : stop_latency;
    const int events =
        ::poll(ready.data(), ready.size(), static_cast<int>(std::min(left, latency).count()));
    if (loader_ && loader_->has_ended())
      begin_walk();
    if (events <= 0)
      return;
    if (ready[1].revents != 0)
      worker_.drain_output(log_);
    if (ready[0].revents == 0)
      return;
    using Outcome = wire::Received::Outcome;
    const auto received = wire::receive_message(worker_.socket(), buffer_, false);
    if (received.outcome == Outcome::message)
      clock_.without([&] { return handle(received.message), 0; });
    else if (received.outcome == Outcome::closed)
      over_ = true;
    else if (received.outcome == Outcome::too_long)
      break_off();
  }

  static bool is_over(const std::optional<Clock::time_point>& end) {
    return end && Clock::now() >= *end;
  }

  bool out_of_time() {
    if (request_.stop.stop_requested()) {
      stop({codes::interrupted, "interrupted while the queues were walked"}, TruncatedBy::max_stop);
    } else if (is_over(request_.deadline)) {
      stop({"walk.max_stop", "the time that the target may be held was over during the walk",
            "--max-stop S with more seconds, or --max-operations N with fewer operations"},
           TruncatedBy::max_stop);
    } else if (is_over(request_.walk_end)) {
      stop(walk_too_long(request_.dll, worker_.shared()), TruncatedBy::time);
    } else if (clock_.used() >= request_.cpu_limit) {
      stop(overrun(request_.dll, request_.cpu_limit, worker_.shared()), TruncatedBy::time);
    }
    return over_;
  }

  void handle(std::span<const std::byte> message) {
    if (!take_result(message))
      answer(message);
  }

  /// False: it is a request.
  bool take_result(std::span<const std::byte> message) {
    wire::Decoder in(message);
    const auto kind = in.get<wire::Kind>();
    if (!in.ok() || loader_) { // what comes now comes of a constructor
      break_off();
      return true;
    }
    switch (kind) {
    case wire::Kind::loading:
      if (!take_loader(message))
        break_off();
      return true;
    case wire::Kind::batch:
      if (!results_.accept(message))
        break_off();
      else if (results_.limit() != WalkLimit::none)
        stop_at(results_.limit());
      return true;
    case wire::Kind::failure: {
      const auto why = in.get<wire::FailureKind>();
      const std::string text = in.text();
      said_all_ = true;
      if (in.complete())
        stop(reported_failure(request_.dll, why, text));
      else
        break_off();
      return true;
    }
    case wire::Kind::done:
      said_all_ = over_ = true;
      return true;
    case wire::Kind::find_symbol:
    case wire::Kind::find_function:
    case wire::Kind::find_type:
    case wire::Kind::field_offset:
    case wire::Kind::fetch:
      return false;
    default:
      break_off();
      return true;
    }
  }

  bool take_loader(std::span<const std::byte> message) {
    wire::LoadingMessage loading;
    if (has_loaded_ || !request_.sandboxed || !loading.decode(message))
      return false;
    has_loaded_ = true;
    loader_.emplace(loading.loader);
    if (!loading.gap.empty())
      outcome_.sandbox_gap = printable(loading.gap);
    return true;
  }

  /// The loader is no more: from here on nothing but the strict filter's process is there.
  void begin_walk() {
    const auto status = loader_->end();
    loader_.reset();
    const bool loaded = status && WIFEXITED(*status) && WEXITSTATUS(*status) == wire::loader_done;
    if (!loaded)
      stop(death(request_.dll, status, worker_.shared()));
    else if (!wire::send_message(worker_.socket(), wire::Encoder().put(wire::Kind::walk).message(),
                                 false))
      over_ = true;
  }

  /// While memory is read for a request, serve_meanwhile() may have answered it, and have taken the
  /// next one.
  void answer(std::span<const std::byte> request) {
    unanswered_.assign(request.begin(), request.end());
    while (!unanswered_.empty() && !over_) {
      const auto asked = unanswered_;
      const auto answers = answers_;
      auto reply = lookups_.answer(asked);
      if (over_)
        return;
      if (!reply || answers_ == answers)
        send_answer(std::move(reply));
    }
  }

  void send_answer(Result<wire::Encoder> reply) {
    unanswered_.clear();
    ++answers_;
    if (!reply && reply.error().code == codes::dll_protocol)
      break_off();
    else if (!reply)
      stop_reading(std::move(reply).error());
    else if (!wire::send_message(worker_.socket(), reply->message(), false))
      over_ = true; // it is gone, or asks without reading: end() finds out
  }

  /// More pages have come, and others are on their way: what can be answered from those that are
  /// there is, and results are taken, so that the worker goes on beside the reading. Whether it may
  /// want more than it has asked for.
  bool serve_meanwhile() {
    for (int messages = 0; !over_ && messages < most_meanwhile; ++messages) {
      if (unanswered_.empty() && !receive_meanwhile())
        break;
      if (unanswered_.empty())
        continue;
      auto reply = lookups_.answer_at_once(unanswered_);
      if (!reply)
        break;
      send_answer(std::move(*reply));
    }
    return !over_;
  }

  /// False: nothing came.
  bool receive_meanwhile() {
    using Outcome = wire::Received::Outcome;
    const auto received = wire::receive_message(worker_.socket(), buffer_meanwhile_, false);
    if (received.outcome == Outcome::closed)
      over_ = true;
    else if (received.outcome == Outcome::too_long)
      break_off();
    if (received.outcome != Outcome::message)
      return false;
    if (!take_result(received.message))
      unanswered_.assign(received.message.begin(), received.message.end());
    return true;
  }

  /// The way to the memory is closed: by our own limits, or lost.
  void stop_reading(Error why) {
    const bool limit = codes::given_up_by_us(why.code);
    if (limit && is_over(request_.walk_end))
      return stop(walk_too_long(request_.dll, worker_.shared()), TruncatedBy::time);
    stop(std::move(why), limit ? TruncatedBy::max_stop : TruncatedBy::nothing);
  }

  void stop_at(WalkLimit limit) {
    const bool count = limit == WalkLimit::operations;
    stop(limit_met(request_.dll, limit), count ? TruncatedBy::operations : TruncatedBy::bytes);
  }

  void stop(Error why, TruncatedBy truncated_by = TruncatedBy::nothing) {
    outcome_.failure = std::move(why);
    truncated_by_ = truncated_by;
    over_ = true;
  }

  /// For an improper message. What is in order behind it is kept (accept_unread()): much of it was
  /// found before.
  void break_off() { stop(protocol_violation(request_.dll)); }

  void conclude() {
    const auto status = worker_.end(log_, said_all_ ? farewell_ms : 0);
    loader_.reset();
    const auto& shared = worker_.shared();
    accept_unread();
    accept_remainder();
    if (said_all_ && status.value_or(0) != 0) {
      log_.add("afterwards: " + death(request_.dll, status, shared).message);
    } else if (!said_all_ && !outcome_.failure) {
      outcome_.failure = death(request_.dll, status, shared);
      if (outcome_.failure->code == codes::dll_timeout)
        truncated_by_ = TruncatedBy::time;
    }
    ours_ = truncated_by_ != TruncatedBy::nothing && outcome_.failure->code != codes::dll_timeout;
    outcome_.left_out = lookups_.left_out();
    outcome_.fetches = shared.fetches.load();
    outcome_.fetch_bytes = shared.fetch_bytes.load();
    results_.finish(outcome_.failure, truncated_by_, !ours_);
  }

  /// What it had sent by then is kept; and if nothing is known of why it ended, its last word may
  /// be there: it need not wait for our last reply. More than any socket holds comes of a process
  /// that the DLL has left behind.
  void accept_unread() {
    using Outcome = wire::Received::Outcome;
    constexpr int most = 4096;
    for (int i = 0; i < most; ++i) {
      const auto received = wire::receive_message(worker_.socket(), buffer_, false);
      if (received.outcome == Outcome::message && take_loader(received.message))
        loader_.reset(); // nobody has looked at it, and it is dead like the rest
      else if (received.outcome == Outcome::message && outcome_.failure)
        static_cast<void>(results_.accept(received.message));
      else if (received.outcome == Outcome::message)
        static_cast<void>(take_result(received.message));
      else if (received.outcome != Outcome::too_long)
        return;
    }
  }

  /// What lay in the shared page when the worker went: copied first, then checked.
  void accept_remainder() {
    const auto& shared = worker_.shared();
    const std::size_t size = std::min<std::size_t>(shared.batch_size.load(), wire::max_message);
    std::copy_n(shared.batch, size, buffer_.begin());
    results_.accept_remainder(std::span(buffer_).first(size));
  }

  const WorkerRequest& request_;
  const wire::StartMessage& start_;
  WorkerProcess& worker_;
  BatchReader& results_;
  WorkerOutcome& outcome_;
  MessageLog& log_;
  Lookups lookups_;
  std::optional<sandbox::Child> loader_; ///< while it runs
  bool has_loaded_ = false;              ///< or is at it
  WorkerClock clock_;
  std::array<std::byte, wire::max_message> buffer_;
  std::array<std::byte, wire::max_message> buffer_meanwhile_; ///< while one lies in buffer_
  std::vector<std::byte> unanswered_; ///< the worker's request that it waits for an answer to
  std::uint64_t answers_ = 0;
  bool over_ = false;
  bool said_all_ = false; ///< done or a failure came; only its destructors are left
  TruncatedBy truncated_by_ = TruncatedBy::nothing;
  bool ours_ = false; ///< it was a limit of ours that ended it, no fault of the DLL
};

} // namespace

wire::StartMessage start_message(const WorkerRequest& request) {
  const Platform& platform = request.space.platform;
  wire::StartMessage start;
  start.dll = request.dll.string();
  start.checked = request.checked;
  start.process_name = request.process_name;
  start.big_endian = platform.byte_order == ByteOrder::big;
  const std::array sizes = {platform.short_size, platform.int_size, platform.long_size,
                            platform.long_long_size, platform.pointer_size};
  std::copy(sizes.begin(), sizes.end(), start.sizes);
  start.world_rank = static_cast<std::int32_t>(request.world_rank_hint);
  const std::uint64_t pages = request.store != nullptr ? request.store->file_bytes() : 0;
  start.address_space = worker_own_memory + worker_programs + pages;
  start.own_memory = worker_own_memory;
  start.sandboxed = request.sandboxed;
  const auto limit = std::chrono::ceil<std::chrono::seconds>(request.cpu_limit).count();
  start.cpu_seconds = static_cast<std::uint32_t>(limit) + spare_cpu_seconds;
  return start;
}

void run_worker(const WorkerRequest& request, const wire::StartMessage& start, BatchReader& results,
                WorkerOutcome& outcome, MessageLog& log) {
  if (request.started != nullptr && request.started->alive()) {
    Session(request, start, *request.started, results, outcome, log).run();
    return;
  }
  auto worker = WorkerProcess::start(request.worker);
  if (worker) {
    Session(request, start, *worker, results, outcome, log).run();
    return;
  }
  outcome.failure = std::move(worker).error();
  results.finish(outcome.failure, TruncatedBy::nothing, false);
}

} // namespace mqbridge
