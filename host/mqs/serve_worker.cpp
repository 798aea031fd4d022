#include "host/mqs/serve_worker.h"

#include "host/codes.h"
#include "host/confined/child.h"
#include "host/mqs/lookups.h"
#include "host/mqs/walk_failures.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/wait.h>
#include <utility>

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

bool is_over(const std::optional<Clock::time_point>& end) {
  return end && Clock::now() >= *end;
}

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
  /// `is_resumed`: the worker was asked about other processes of the job before. Then it sees no
  /// store: that of the first one was mapped before the filter was there. `turn`: of that job;
  /// null: the worker is none's so far.
  Session(const WorkerRequest& request, const wire::StartMessage& start, JobWorkers::Idle worker,
          bool is_resumed, const Answers& answers, JobWorkers::Turn* turn)
      : request_(request), start_(start), worker_(std::move(worker.process)),
        results_(answers.results), outcome_(answers.outcome), log_(answers.log), turn_(turn),
        lookups_(request.dll, request.space, request.store, log_), is_resumed_(is_resumed),
        has_loaded_(is_resumed) {
    outcome_.sandbox_gap = std::move(worker.sandbox_gap);
    if (request_.store == nullptr)
      return;
    if (!is_resumed_)
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

  /// False: the job has a worker, which is to be asked instead.
  bool run() {
    if (send_start()) {
      if (request_.meanwhile)
        clock_.without([&] { return request_.meanwhile(), 0; });
      while (!over_)
        step();
    }
    if (is_elsewhere_)
      forget();
    else
      conclude();
    return !is_elsewhere_;
  }

private:
  bool send_start() {
    const auto message = start_.encode();
    if (request_.store == nullptr || is_resumed_)
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

  bool out_of_time() {
    if (request_.stop.stop_requested()) {
      stop(interrupted(), TruncatedBy::max_stop);
    } else if (is_over(request_.deadline)) {
      stop(held_too_long(), TruncatedBy::max_stop);
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
      if (take_last_word(in))
        stop(reported_failure(request_.dll, why, text));
      return true;
    }
    case wire::Kind::done:
      over_ = take_last_word(in) || over_;
      return true;
    case wire::Kind::job:
      take_job();
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

  /// False: it is improper.
  bool take_last_word(wire::Decoder& in) {
    const bool waits = in.get<std::uint8_t>() != 0;
    said_all_ = true;
    if (!in.complete() || (waits && turn_ == nullptr)) {
      break_off();
      return false;
    }
    waits_ = waits;
    return true;
  }

  /// The DLL is of level 3: this worker goes on if it is that of the job.
  void take_job() {
    if (request_.job == nullptr || is_resumed_ || asked_for_job_)
      return break_off();
    asked_for_job_ = true;
    is_elsewhere_ = turn_ == nullptr;
    over_ = is_elsewhere_ ||
            !wire::send_message(worker_.socket(), wire::Encoder().put(wire::Kind::reply).message(),
                                false);
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

  /// What the DLL has said so far it will say again.
  void forget() {
    log_.clear();
    results_.begin_anew();
  }

  void conclude() {
    const auto status = end_worker();
    const auto& shared = worker_.shared();
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
    if (waits_)
      turn_->keep({std::move(worker_), outcome_.sandbox_gap});
    else if (turn_ != nullptr && !said_all_)
      turn_->lose();
  }

  /// Unless it waits for the next process. What it said is taken.
  sandbox::WaitStatus end_worker() {
    if (waits_) {
      worker_.drain_output(log_);
      log_.end_stream();
      return 0;
    }
    const auto status = worker_.end(log_, said_all_ ? farewell_ms : 0);
    loader_.reset();
    accept_unread();
    accept_remainder();
    waits_ = false; // whatever was read behind its end
    return status;
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
  WorkerProcess worker_;
  BatchReader& results_;
  WorkerOutcome& outcome_;
  MessageLog& log_;
  JobWorkers::Turn* turn_;
  Lookups lookups_;
  std::optional<sandbox::Child> loader_; ///< while it runs
  bool is_resumed_;
  bool has_loaded_; ///< or is at it
  WorkerClock clock_;
  std::array<std::byte, wire::max_message> buffer_;
  std::array<std::byte, wire::max_message> buffer_meanwhile_; ///< while one lies in buffer_
  std::vector<std::byte> unanswered_; ///< the worker's request that it waits for an answer to
  std::uint64_t answers_ = 0;
  bool over_ = false;
  bool said_all_ = false; ///< done or a failure came; only its destructors are left
  bool waits_ = false;    ///< after that, for the next process of the job
  bool asked_for_job_ = false;
  bool is_elsewhere_ = false; ///< the job's worker is to be asked instead
  TruncatedBy truncated_by_ = TruncatedBy::nothing;
  bool ours_ = false; ///< it was a limit of ours that ended it, no fault of the DLL
};

} // namespace

bool serve_worker(const WorkerRequest& request, const wire::StartMessage& start,
                  WorkerProcess worker, const Answers& answers, JobWorkers::Turn* turn) {
  return Session(request, start, {std::move(worker), {}}, false, answers, turn).run();
}

void serve_worker(const WorkerRequest& request, const wire::StartMessage& start,
                  JobWorkers::Idle worker, const Answers& answers, JobWorkers::Turn& turn) {
  Session(request, start, std::move(worker), true, answers, &turn).run();
}

} // namespace mqbridge
