#include "host/dump/rank_session.h"

#include "host/disk/work_budget.h"
#include "host/dump/dead_target.h"
#include "host/dump/process_state.h"
#include "host/dump/rank_walk.h"
#include "host/mpi/mpi_support.h"
#include "rsp/codes.h"
#include "rsp/commands/process_life.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

bool is_error(const RankError& error) {
  return error.level == RankError::Level::error;
}

} // namespace

RankSession::RankSession(const TargetSpec& target, const SharedTools& tools,
                         std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer)
    : target_spec_(target), tools_(tools), stub_(stub), observer_(observer), link_(target, tools),
      replay_(tools.options.cache == CacheMode::full ? tools.replays : nullptr),
      budget_(tools.options.max_bytes, tools.budget) {
  RankLink::name_target(dump(), target.endpoint);
  outcome_.claim.given = target.rank;
}

RankSession::~RankSession() = default;

bool RankSession::open(std::stop_token stop) {
  stop_ = std::move(stop);
  const bool ready = guarded(&RankSession::prepare);
  errors_before_walk_ = dump().errors.size();
  return ready && dll_.has_value();
}

const RankDump& RankSession::look() {
  dump().errors.resize(errors_before_walk_);
  dump().communicators.clear();
  budget_.give_back();
  walked_ = false;
  guarded(&RankSession::walk);
  dump().status = conclude();
  return dump();
}

rsp::Counters RankSession::counters() const {
  const auto* client = link_.connected();
  return client != nullptr ? client->counters() : rsp::Counters{};
}

RankOutcome RankSession::close() {
  cancel_.reset();
  release();
  clock_.finish(dump().statistics);
  replay_.keep();
  dump().status = conclude();
  return std::move(outcome_);
}

void RankSession::progress(std::string_view phase, std::uint64_t operations) const {
  if (observer_.progress)
    observer_.progress(phase, operations);
}

/// The user may want to end the dump before it holds the target for long.
void RankSession::warn_early(Error warning) {
  if (observer_.warning)
    observer_.warning(warning);
  warnings_.push_back(std::move(warning));
}

void RankSession::begin(PhaseName phase, std::string_view name) {
  clock_.begin(phase);
  if (options().trace != nullptr)
    options().trace->phase(dump().endpoint, name);
  progress(name);
}

bool RankSession::guarded(Result<void> (RankSession::*work)()) {
  Result<void> done;
  try {
    done = (this->*work)();
  } catch (const std::exception& exception) {
    done = fail("internal",
                fmt::format("{}: the dump of this target ended early: {}", dump().endpoint,
                            exception.what()),
                "where memory is short: fewer targets at once (--jobs N), or --max-operations N");
  }
  report_warnings();
  if (!done)
    report(done.error(), RankError::Level::error);
  return done.has_value();
}

Result<void> RankSession::prepare() {
  if (auto done = connect(); !done)
    return done;
  cancel_.emplace(stop_, [this] { link_.client().cancel(); });
  if (auto done = attach(); !done)
    return done;
  const WorkScope scope({link_.deadline(), stop_});
  if (auto done = identify_mpi(); !done)
    return done;
  if (!mpi_->has_queues())
    return {};
  auto done = prepare_walk();
  return done ? plan_walk() : done;
}

Result<void> RankSession::connect() {
  // What must not take time from a target that is held. Without it the walk starts one, and says
  // what is wrong.
  if (auto worker = WorkerProcess::start(options().program_directory / "mqbridge-worker"))
    worker_.emplace(std::move(*worker));
  if (tools_.known_files != nullptr)
    tools_.known_files->wait(); // many stubs hold their process from the first byte on
  dump().process_state = local_process_state(target_spec_.endpoint);
  begin(PhaseName::connect, "connect");
  if (auto done = link_.connect(stub_, stop_); !done)
    return done;
  clock_.watch(link_.connected());
  outcome_.features = link_.client().features();
  return {};
}

Result<void> RankSession::attach() {
  if (auto warning =
          long_start_warning(start_up_time(link_.client().link_estimate()), options().max_stop))
    warn_early(std::move(*warning));
  begin(PhaseName::attach, "attach");
  if (auto state = remote_process_state(link_.client()))
    dump().process_state = std::move(state);
  auto attachment = link_.attach();
  if (!attachment)
    return forward(std::move(attachment));
  if (attachment->pid != 0)
    dump().pid = attachment->pid;
  note_process_state();
  if (!options().run_until)
    entry_hint_ = hint_at_entry(*attachment);
  else if (auto done = run_to_signal(*attachment); !done)
    return done;
  held_ = true;
  // A stub that was started here stopped the process for us, from its start on. What any other
  // command has reached may have held it for long.
  const bool ours = RankLink::starts_stub(target_spec_.endpoint);
  dump().stopped_before_us = attachment->stopped_before_us && !ours;
  return learn_target(*attachment);
}

void RankSession::note_process_state() {
  if (!dump().process_state || !dump().pid)
    return;
  if (auto warning = stopped_process_warning(*dump().process_state, *dump().pid))
    warnings_.push_back(std::move(*warning));
}

Result<void> RankSession::run_to_signal(rsp::Attachment& attachment) {
  progress("run");
  const auto run = link_.run(attachment);
  if (!run)
    return Failure(run.error());
  if (auto warning = describe_run(*run, *options().run_until))
    warnings_.push_back(std::move(*warning));
  return {};
}

FetchContext RankSession::fetch_context() {
  FetchContext context{&tools_.fetcher};
  context.deadline = link_.deadline();
  context.stop = stop_;
  context.progress = [this](std::string_view text) { progress(text); };
  return context;
}

Result<void> RankSession::learn_target(const rsp::Attachment& attachment) {
  const WorkScope scope({link_.deadline(), stop_});
  const TargetOptions how{options().images, fetch_context(), options().cache, &replay_};
  auto target = Target::adopt(link_.client(), attachment, tools_.files, how);
  if (!target)
    return forward(std::move(target));
  target_ = std::move(*target);
  dump().executable = target_->executable();
  dump().platform = target_->platform();
  return {};
}

/// Late: by now it has come beside other reads.
Result<void> RankSession::take_environment() {
  auto environment = target_->environment();
  if (!environment)
    return forward(std::move(environment));
  outcome_.claim.name_space = environment->job;
  outcome_.claim.environment_rank = environment->rank;
  outcome_.claim.environment_size = environment->size;
  if (link_.client().features().vfile) // else the process id may be the stub's own invention
    outcome_.claim.identity = target_->identity();
  return {};
}

Result<void> RankSession::identify_mpi() {
  begin(PhaseName::images, "images");
  mpi_.emplace(options(), *target_, dump(), warnings_);
  auto done = mpi_->identify(entry_hint_, link_.client().features().vfile);
  outcome_.loaded_objects = mpi_->loaded_objects();
  if (tools_.known_files != nullptr && done)
    tools_.known_files->add(mpi_->images());
  auto known = take_environment();
  return done ? known : done;
}

Result<void> RankSession::prepare_walk() {
  begin(PhaseName::types, "types");
  // Both are looked for, so that who lacks both learns it at once.
  auto types = mpi_->find_types();
  if (types)
    types = mpi_->read_transport();
  const auto& library = mpi_->library();
  const std::string version = library.version.value_or("");
  auto dll = choose_dll(options().dll,
                        {library.dll_name, library.dll_name_ends, library.provider, version});
  if (dll)
    outcome_.dll_path = dll->path.string();
  if (!types && !dll) {
    report_warnings();
    report(types.error(), RankError::Level::error);
  }
  if (!dll)
    return forward(std::move(dll));
  if (!types)
    return types;
  dll_ = std::move(*dll);
  warnings_.insert(warnings_.end(), dll_->warnings.begin(), dll_->warnings.end());
  return {};
}

StopFacts RankSession::stop_facts() {
  StopFacts facts{link_.client().link_estimate(), options().cache};
  facts.held_so_far = held_before_walk_;
  facts.pages_read = read_before_walk_;
  return facts;
}

Result<void> RankSession::plan_walk() {
  auto extent = support_of(mpi_->library().provider).queue_extent(mpi_->space());
  if (!extent)
    return forward(std::move(extent));
  held_before_walk_ = RankLink::Clock::now() - link_.held_since();
  read_before_walk_ = target_->pages_read();
  auto facts = stop_facts();
  facts.replay = replay_.known();
  facts.extent = *extent;
  outcome_.plan = plan_stop(facts);
  if (auto warning = long_stop_warning(*outcome_.plan, options().max_stop))
    warn_early(std::move(*warning));
  return {};
}

Result<void> RankSession::walk() {
  begin(PhaseName::walk, "walk");
  RankWalk walk{options(), *target_, mpi_->space(), mpi_->library(), *dll_};
  walk.bypassed = mpi_->bypassed();
  walk.world_rank_hint = outcome_.claim.environment_rank.value_or(-1);
  // The last tenth of --max-stop and --max-walk is for reading the statuses of what was found:
  // without it they could not be trusted.
  const auto start = RankLink::Clock::now();
  walk.walk_end = start + options().max_walk / 10 * 9;
  walk.deadline = link_.limit(0.9, walk.walk_end);
  walk.before_repairs = [this, start] { link_.limit(1.0, start + options().max_walk); };
  walk.budget = &budget_;
  walk.progress = [this](std::uint64_t operations) { progress("walk", operations); };
  walk.stop = stop_;
  walk.worker = worker_ ? &*worker_ : nullptr;
  const WorkScope scope({link_.deadline(), stop_});
  auto outcome = walk_rank(walk, dump());
  warnings_.insert(warnings_.end(), outcome.warnings.begin(), outcome.warnings.end());
  walked_ = outcome.found;
  return outcome.result;
}

void RankSession::take_statistics(const PageRuns& touched) {
  if (options().cache != CacheMode::none)
    dump().statistics.pages_touched = count_pages(touched);
  if (!walked_)
    return;
  replay_.take_down(target_->identity(), touched, &mpi_->images());
  auto facts = stop_facts();
  facts.replay = touched;
  outcome_.next = plan_stop(facts);
}

/// Most stubs are asked together with the detaching. Left are those that take one request at a
/// time, before a result is believed, and a process of which nothing could be read: why?
void RankSession::look_for_life() {
  auto& client = link_.client();
  const bool has_failed = any_error();
  const bool nothing_read = client.life().question().empty();
  if (has_failed ? nothing_read : !client.asks_ahead())
    rsp::look_for_life(client);
}

/// Whatever else seemed wrong may be so because reads failed.
void RankSession::note_death(const Error& died) {
  std::erase_if(dump().errors, [](const RankError& error) { return is_error(error); });
  report(died, RankError::Level::error);
  mark_target_died(dump().communicators);
}

void RankSession::release() {
  if (!held_)
    return;
  // What is gone afterwards. The rest of the work waits until the target runs on.
  const auto touched = target_ ? target_->touched() : PageRuns();
  if (target_ && options().cache != CacheMode::none)
    dump().statistics.pages_read = target_->pages_read();
  begin(PhaseName::detach, "detach");
  look_for_life();
  if (auto done = target_ ? target_->detach() : rsp::detach(link_.client()); !done)
    report_release(done.error());
  if (link_.client().life().ended())
    note_death(rsp::died(link_.client().endpoint()));
  outcome_.held =
      HeldTime{link_.held_since(), link_.released_for_us().value_or(RankLink::Clock::now())};
  if (const auto trouble = tools_.guardian.trouble())
    report(*trouble, RankError::Level::warning);
  dump().stopped_ms = milliseconds(outcome_.held->to - outcome_.held->from);
  dump().stopped_at = rfc3339(link_.stopped_at());
  const auto link = link_.client().link_estimate();
  if (link.round_trip > 0)
    dump().statistics.rtt_us = link.round_trip * 1e6;
  if (link.bytes_per_second > 0)
    dump().statistics.bandwidth_bps = link.bytes_per_second * 8;
  if (target_)
    take_statistics(touched);
}

void RankSession::report(const Error& error, RankError::Level level) {
  dump().errors.push_back({std::string(error.code), level, error.message, error.hint});
}

/// That the time was over has been said with what took it.
void RankSession::report_release(const Error& error) {
  const auto& errors = dump().errors;
  const bool said = error.code == codes::stop_limit &&
                    std::any_of(errors.begin(), errors.end(),
                                [&](const RankError& other) { return other.code == error.code; });
  if (!said)
    report(error, RankError::Level::error);
}

void RankSession::report_warnings() {
  for (const auto& warning : std::exchange(warnings_, {}))
    report(warning, RankError::Level::warning);
}

bool RankSession::any_error() const {
  return std::ranges::any_of(outcome_.dump.errors, is_error);
}

RankStatus RankSession::conclude() const {
  const bool failed = any_error();
  if (failed && !walked_)
    return RankStatus::failed;
  const auto& mpi = outcome_.dump.mpi;
  if (!failed && mpi && mpi->state == MpiState::finalized)
    return RankStatus::ok; // there is nothing more to know
  // An MPI that runs has communicators: a walk that found none has not seen them.
  const bool bypassed = mpi_ && mpi_->bypassed();
  return failed || bypassed || !walked_ || cut_short() ? RankStatus::partial : RankStatus::ok;
}

bool RankSession::cut_short() const {
  for (const auto& communicator : outcome_.dump.communicators)
    for (const auto& queue : communicator.queues)
      if (queue.state == QueueState::error || queue.truncated_by != TruncatedBy::nothing)
        return true;
  return false;
}

} // namespace mqbridge
