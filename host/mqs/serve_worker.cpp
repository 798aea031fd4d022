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
/// Time between two looks at the loader, if the kernel does not tell when it ends.
constexpr milliseconds loader_latency{1};
/// Most messages that are taken from the worker between two replies of the stub: the stub must not
/// have to wait until its buffers are full.
constexpr int most_meanwhile = 8;

bool is_over(const std::optional<Clock::time_point>& end) {
  return end && Clock::now() >= *end;
}

/// The time that a worker uses itself, without the time that the parent spends on its requests.
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
  /// store: it could map only that of the first process, before its filter was in force. `turn`: of
  /// that job; null: the worker belongs to no job so far.
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

  /// False: the job has another worker, which is to be asked instead.
  bool run() {
    if (send_start())
      while (!over_)
        step();
    if (is_elsewhere_)
      forget();
    else
      conclude();
    return !is_elsewhere_;
  }

private:
  bool send_start() {
    const auto message = wire::encode(start_);
    if (request_.store == nullptr || is_resumed_)
      return wire::send_message(worker_.socket(), message.message(), false);
    return wire::send_with_descriptor(worker_.socket(), message.message(),
                                      request_.store->descriptor());
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

  /// Takes a result. False: the message is a request.
  bool take_result(std::span<const std::byte> message) {
    wire::Decoder in(message);
    const auto kind = in.get<wire::Kind>();
    if (!in.ok() || loader_) { // messages that come now were sent by a constructor
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

  /// False: the message is improper.
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

  /// The DLL is of level 3: this worker goes on only if it is the job's.
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
    const auto loading = wire::decode<wire::LoadingMessage>(message);
    if (has_loaded_ || !request_.sandboxed || !loading)
      return false;
    has_loaded_ = true;
    loader_.emplace(loading->loader);
    if (!loading->gap.empty())
      outcome_.sandbox_gap = printable(loading->gap);
    return true;
  }

  /// The loader has ended: from here on there is only the process with the strict filter.
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

  /// While memory is read for a request, serve_meanwhile() may already have answered it, and have
  /// taken the next one.
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
      over_ = true; // the worker is gone, or asks without reading: end() finds out
  }

  /// More pages have come, and others are on their way. Answers requests that the present pages can
  /// answer, and takes results, so that the worker goes on during the read. Returns whether it may
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

  /// Takes a message if one has come. False: none has.
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

  /// Memory cannot be read any more: by our own limits, or because the connection is lost.
  void stop_reading(Error why) {
    const bool limit = codes::given_up_by_us(why.code);
    if (limit && is_over(request_.walk_end))
      return stop(walk_too_long(request_.dll, worker_.shared()), TruncatedBy::time);
    stop(std::move(why), limit ? TruncatedBy::max_stop : TruncatedBy::nothing);
  }

  void stop_at(WalkLimit limit) {
    stop(limit_met(request_.dll, limit), limit == WalkLimit::requests     ? TruncatedBy::nothing
                                         : limit == WalkLimit::operations ? TruncatedBy::operations
                                                                          : TruncatedBy::bytes);
  }

  void stop(Error why, TruncatedBy truncated_by = TruncatedBy::nothing) {
    outcome_.failure = std::move(why);
    truncated_by_ = truncated_by;
    over_ = true;
  }

  /// Ends the walk for an improper message. Proper messages behind it are kept (accept_unread()):
  /// their results were mostly found before.
  void break_off() { stop(protocol_violation(request_.dll)); }

  /// Drops the DLL's messages so far: it will print them again.
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

  /// Ends the worker, unless it waits for the next process. Its messages have been taken.
  sandbox::WaitStatus end_worker() {
    if (waits_) {
      worker_.drain_output(log_);
      log_.end_stream();
      return 0;
    }
    const auto status = worker_.end(log_, said_all_ ? WorkerProcess::farewell_ms : 0);
    loader_.reset();
    accept_unread();
    accept_remainder();
    waits_ = false; // it does not wait, whatever was read behind its end
    return status;
  }

  /// Keeps the messages that the worker had sent before its end. If the reason of the end is not
  /// known, its last message may be among them: the worker need not wait for our last reply. More
  /// messages than any socket holds must come from a process that the DLL has left behind.
  void accept_unread() {
    using Outcome = wire::Received::Outcome;
    constexpr int most = 4096;
    for (int i = 0; i < most; ++i) {
      const auto received = wire::receive_message(worker_.socket(), buffer_, false);
      if (received.outcome == Outcome::message && take_loader(received.message))
        loader_.reset(); // nobody has looked at the loader, and it is dead like the worker
      else if (received.outcome == Outcome::message && outcome_.failure)
        static_cast<void>(results_.accept(received.message));
      else if (received.outcome == Outcome::message)
        static_cast<void>(take_result(received.message));
      else if (received.outcome != Outcome::too_long)
        return;
    }
  }

  /// Takes the batch that lay in the shared page when the worker ended: copied first, then checked.
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
  bool has_loaded_; ///< it has loaded the DLL, or is loading it
  WorkerClock clock_;
  std::array<std::byte, wire::max_message> buffer_;
  std::array<std::byte, wire::max_message>
      buffer_meanwhile_;              ///< for messages that come while one is in buffer_
  std::vector<std::byte> unanswered_; ///< the request whose answer the worker waits for
  std::uint64_t answers_ = 0;
  bool over_ = false;
  bool said_all_ = false; ///< `done` or `failure` came; only the DLL's destructors are left
  bool waits_ = false;    ///< the worker has finished, and waits for the next process of the job
  bool asked_for_job_ = false;
  bool is_elsewhere_ = false; ///< another worker has the job, and is to be asked instead
  TruncatedBy truncated_by_ = TruncatedBy::nothing;
  bool ours_ = false; ///< a limit of ours ended it: the DLL is not to blame
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
