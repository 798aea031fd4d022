#include "host/dump/rank/rank_session.h"

#include "host/codes.h"
#include "host/disk/work_budget.h"
#include "host/dump/rank/rank_handles.h"
#include "host/dump/rank/rank_variables.h"
#include "host/dump/rank/rank_walk.h"
#include "host/dump/values/filters.h"
#include "host/dump/values/times.h"
#include "host/mpi/dll_locations.h"
#include "host/mpi/launch_environment.h"
#include "host/mpi/mpi_support.h"

#include <exception>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {

RankSession::RankSession(const TargetSpec& target, const SharedTools& tools,
                         std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer)
    : own_(target, tools), tools_(own_.get()), report_(target, tools_.options, observer),
      access_(access_to(target, tools_, stub)),
      replay_(tools.options.cache == CacheMode::full ? tools.replays : nullptr),
      budget_(tools.options.max_bytes, tools.budget), stacks_(tools.options, tools.frame_names) {
  report_.clock().watch([this] { return access_->counters(); });
}

RankSession::~RankSession() = default;

bool RankSession::reach(std::stop_token stop) {
  stop_ = std::move(stop);
  return guarded(&RankSession::connect);
}

bool RankSession::open() {
  const bool ready = guarded(&RankSession::prepare);
  report_.mark();
  if (plan_ || handle_dll_ || options().variables)
    return ready;
  const bool worth_it = dump().mpi || !options().asks_mpi();
  return options().stacks && worth_it && process_ && process_->has_images();
}

const RankDump& RankSession::look() {
  report_.forget_look();
  budget_.give_back();
  walked_ = false;
  unread_ = false;
  from_stacks_ = nullptr;
  tried_stacks_ = stacks_.captured(); // it has stood still since
  if (plan_)
    guarded(&RankSession::walk);
  if (options().variables)
    guarded(&RankSession::read_variables);
  if (handle_dll_)
    guarded(&RankSession::ask_handles);
  // They come last: a stub that dies over a request for registers, or falls silent, costs the
  // stacks alone. One that is silent already is not asked for more: its process has waited for long
  // enough.
  if (options().stacks && !tried_stacks_ && !report_.has_error(codes::stub_timeout))
    guarded(&RankSession::capture);
  if (from_stacks_)
    guarded(&RankSession::add_from_stacks);
  dump().status = conclude();
  return dump();
}

void RankSession::let_go() {
  if (std::exchange(gone_, true))
    return;
  cancel_.reset();
  release();
}

RankOutcome RankSession::close() {
  let_go();
  if (stacks_.captured() || has_sites())
    guarded(&RankSession::unwind);
  if (no_stacks_)
    report_.say(*no_stacks_, RankError::Level::warning);
  report_.clock().finish(dump().statistics);
  replay_.keep();
  dump().status = conclude();
  return std::move(report_.outcome());
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
  report_.say_warnings();
  if (!done)
    report_.say(done.error());
  return done.has_value();
}

Result<void> RankSession::prepare() {
  cancel_.emplace(stop_, [this] { access_->cancel(); });
  if (auto done = open_process(); !done)
    return done;
  const WorkScope scope({access_->deadline(), stop_});
  if (auto done = identify_mpi(); !done) {
    if (options().asks_mpi() || !process_->has_images())
      return done;
    report_.warnings().push_back(std::move(done).error()); // any program has stacks
    return {};
  }
  if (!mpi_->has_queues())
    return {};
  if (options().handles)
    return choose_handle_dll();
  if (!options().queues)
    return {};
  auto dll = choose_types_and_dll();
  return dll ? plan_walk(std::move(*dll)) : forward(std::move(dll));
}

Result<void> RankSession::connect() {
  // Starts the worker before the target is held. If that fails, the walk starts one, and reports
  // the error.
  if (options().queues || options().handles)
    if (auto worker = WorkerProcess::start(options().program_directory / "mqbridge-worker"))
      worker_.emplace(std::move(*worker));
  if (tools_.known_files != nullptr)
    tools_.known_files->wait(); // many stubs hold their process from the first byte on
  report_.begin(PhaseName::connect, "connect");
  auto done = access_->connect(stop_);
  dump().process_state = access_->process_state();
  report_.outcome().features = access_->features();
  return done;
}

Result<void> RankSession::open_process() {
  if (auto warning =
          long_start_warning(start_up_time(access_->link_estimate()), options().max_stop))
    report_.warn_early(std::move(*warning));
  report_.begin(PhaseName::attach, "attach");
  if (options().run_until)
    report_.progress("run");
  auto opened = access_->open();
  dump().process_state = access_->process_state();
  if (const auto pid = access_->pid())
    dump().pid = pid;
  auto& warnings = report_.warnings();
  for (auto& warning : access_->take_warnings())
    warnings.push_back(std::move(warning));
  if (!opened)
    return forward(std::move(opened));
  dump().stopped_before_us = opened->stopped_before_us;
  entry_hint_ = std::move(opened->entry_hint);

  const WorkScope scope({access_->deadline(), stop_});
  auto process =
      StoppedProcess::open(std::move(opened->source), tools_.files,
                           {options().images, mpi_libraries(), transport_libraries(),
                            fetch_context(), options().cache, &replay_, options().stacks});
  if (!process)
    return forward(std::move(process));
  process_ = std::move(*process);
  dump().executable = process_->executable();
  dump().platform = process_->platform();
  return {};
}

FetchContext RankSession::fetch_context() {
  FetchContext context{&tools_.fetcher};
  context.deadline = access_->deadline();
  context.stop = stop_;
  context.progress = [this](std::string_view text) { report_.progress(text); };
  return context;
}

Result<void> RankSession::identify_mpi() {
  report_.begin(PhaseName::images, "images");
  mpi_.emplace(options(), *process_, dump(), report_.warnings());
  auto done = mpi_->identify(entry_hint_);
  if (process_->has_images())
    report_.outcome().loaded_objects = process_->images().images().size();
  if (tools_.known_files != nullptr && done)
    tools_.known_files->add(process_->images());
  auto known = take_environment();
  if (!done || !known)
    return done ? known : done;
  return report_.outcome().claim.name_space ? known : take_job();
}

/// Called late: by now the environment has come beside other reads.
Result<void> RankSession::take_environment() {
  const auto bytes = process_->environment();
  if (!bytes)
    return Failure(bytes.error());
  auto environment = parse_environment(*bytes);
  auto& claim = report_.outcome().claim;
  claim.name_space = std::move(environment.job);
  job_is_step_ = environment.job_is_step;
  claim.environment_rank = environment.rank;
  claim.environment_size = environment.size;
  if (process_->has_real_pid()) // else the process id may be the stub's own invention
    claim.identity = process_->identity();
  return {};
}

/// The job's name, if the launcher has left none in the environment.
Result<void> RankSession::take_job() {
  auto job = support_of(mpi_->library().provider).read_job(process_->space());
  if (!job)
    return forward(std::move(job));
  if (!job->empty())
    report_.outcome().claim.name_space = std::move(*job);
  return {};
}

Result<std::optional<DllChoice>> RankSession::choose_types_and_dll() {
  report_.begin(PhaseName::types, "types");
  // Both are looked up, so that a user who lacks both sees both errors at once.
  auto types = mpi_->find_types();
  if (types)
    types = mpi_->read_transport();
  auto dll = choose_dll_or_none();
  if (const auto& facts = support_of(mpi_->library().provider).facts().dll;
      !types && dll && !*dll && !facts.needs_types_without)
    types = mpi_->read_transport();
  if (dll && *dll)
    report_.outcome().dll_path = (*dll)->path.string();
  else if (dll)
    return types ? std::move(dll) : forward(std::move(types));
  else if (const auto recorded = mpi_->hint_without_dll(); !recorded.empty())
    dll.error().hint += "\nor " + recorded;
  if (!types && !dll) {
    report_.say_warnings();
    report_.say(types.error());
  }
  if (dll && !types)
    return forward(std::move(types));
  return dll;
}

/// nullopt: mqbridge reads the queues itself, because the user wants it, or no DLL can be used.
Result<std::optional<DllChoice>> RankSession::choose_dll_or_none() {
  const auto& given = options().dll.given;
  const bool none_wanted = given && *given == DllPolicy::none;
  auto dll = none_wanted
                 ? Result<DllChoice>(fail(
                       "dll.not_found",
                       fmt::format("--dll none, and mqbridge has not read the queues of {} itself",
                                   mpi_->library().name),
                       "the MPI library's debug DLL: --dll PATH"))
                 : choose_dll(options().dll, dll_of(mpi_->library()));
  if (dll)
    return std::optional(std::move(*dll));
  const bool can_do_without = support_of(mpi_->library().provider).facts().dll.can_do_without;
  if (!can_do_without || (given && !none_wanted))
    return forward(std::move(dll));
  no_dll_ = std::move(dll).error();
  return std::optional<DllChoice>();
}

StopFacts RankSession::stop_facts() const {
  StopFacts facts{access_->link_estimate(), options().cache};
  facts.held_so_far = plan_->held;
  facts.pages_read = plan_->pages_read;
  return facts;
}

Result<void> RankSession::plan_walk(std::optional<DllChoice> dll) {
  auto& warnings = report_.warnings();
  if (dll)
    warnings.insert(warnings.end(), dll->warnings.begin(), dll->warnings.end());
  auto extent = support_of(mpi_->library().provider).queue_extent(process_->space());
  if (!extent)
    return forward(std::move(extent));
  plan_.emplace(WalkPlan{std::move(dll), access_->held_so_far(), process_->pages_read()});
  auto facts = stop_facts();
  facts.replay = replay_.known();
  facts.extent = *extent;
  auto& expected = report_.outcome().plan.emplace(plan_stop(facts));
  if (auto warning = long_stop_warning(expected, options().max_stop))
    report_.warn_early(std::move(*warning));
  return {};
}

Result<void> RankSession::capture() {
  tried_stacks_ = true;
  no_stacks_.reset();
  report_.begin(PhaseName::stacks, "stacks");
  const auto deadline = access_->limit(1.0);
  const WorkScope scope({deadline, stop_});
  if (!plan_) // else the walk reads them
    take_recorded_calls();
  if (options().queues && has_no_queue(dump()))
    if (auto read = mpi_->read_waits_state(); !read)
      return read;
  auto done = stacks_.capture(*process_, mpi_->library(), access_->held_so_far(), deadline);
  if (done)
    return done;
  auto error = std::move(done).error();
  error.message = "no call stacks: " + error.message;
  return without_stacks(std::move(error));
}

/// Operations of calls that block may be on stacks alone.
Result<void> RankSession::add_from_stacks() {
  const bool whole = stacks_.captured() && stacks_.reach_mpi();
  if (!whole) {
    unread_ = true;
    report_.warnings().push_back(
        {codes::queue_no_stacks,
         "the requests of calls that block, such as MPI_Send, are on stacks, and these were not "
         "read, or not far enough: such operations may be missing",
         options().stacks ? "see the warning about stacks" : "leave out --no-stacks"});
  }
  if (!stacks_.captured())
    return {};
  const WorkScope scope({access_->deadline(), stop_});
  auto done = from_stacks_(dump().communicators, stacks_.live_bytes(), whole, process_->space());
  drop_unwanted(dump().communicators, options().filters);
  return done;
}

/// Stacks may not tell what a recorder knows.
void RankSession::take_recorded_calls() {
  const auto& support = support_of(mpi_->library().provider);
  if (!support.facts().is_recorder)
    return;
  std::vector<Communicator> none;
  if (auto outcome = support.add_unshown(none, UnshownRequest(), process_->space()))
    calls_ = std::move(outcome->calls);
  else
    warn(outcome.error());
}

bool RankSession::has_sites() const {
  if (options().handles)
    return report_.has_handles();
  return walked_ && mpi_ && support_of(mpi_->library().provider).facts().is_recorder;
}

Result<void> RankSession::unwind() {
  report_.begin(PhaseName::stacks, "stacks");
  const WorkScope scope({std::nullopt, stop_});
  auto done =
      stacks_.unwind(*process_, mpi_->library(), std::move(calls_), dump(), report_.warnings());
  return done ? done : without_stacks(std::move(done).error());
}

Result<void> RankSession::without_stacks(Error error) {
  if (!options().asks_mpi())
    return Failure(std::move(error));
  if (!report_.has_error(error.code)) // else that has been said
    no_stacks_.emplace(std::move(error));
  return {};
}

RankWalk RankSession::plan_worker(const DllChoice* dll, std::string_view phase) {
  RankWalk walk{options(), *process_, mpi_->library(), dll, no_dll_};
  walk.world_rank_hint = report_.outcome().claim.environment_rank.value_or(-1);
  walk.budget = &budget_;
  walk.progress = [this, phase](std::uint64_t found) { report_.progress(phase, found); };
  walk.stop = stop_;
  walk.worker = worker_ ? &*worker_ : nullptr;
  return walk;
}

Result<void> RankSession::walk() {
  report_.begin(PhaseName::walk, "walk");
  auto walk = plan_worker(plan_->dll ? &*plan_->dll : nullptr, "walk");
  walk.bypass = mpi_->bypass();
  const auto& job = report_.outcome().claim.name_space;
  if (job && !job_is_step_ && tools_.job_workers != nullptr)
    walk.job.emplace(JobOfWalk{*tools_.job_workers, *job});
  // The last tenth of --max-walk is for reading the statuses of what was found: without it they
  // could not be trusted. So is a tenth of --max-stop, and the last one is for the stacks.
  const double stacks = options().stacks && !tried_stacks_ ? 0.1 : 0;
  const auto start = PhaseClock::Clock::now();
  walk.walk_end = start + options().max_walk / 10 * 9;
  walk.deadline = access_->limit(0.9 - stacks, walk.walk_end);
  walk.before_repairs = [this, start, stacks] {
    access_->limit(1.0 - stacks, start + options().max_walk);
  };
  const WorkScope scope({access_->deadline(), stop_});
  auto outcome = walk_rank(walk, dump());
  auto& warnings = report_.warnings();
  warnings.insert(warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  walked_ = outcome.found;
  unread_ = outcome.bypassed;
  calls_ = std::move(outcome.calls);
  from_stacks_ = std::move(outcome.from_stacks);
  if (job)
    name_members(*job);
  return outcome.result;
}

/// An MPI may call jobs by other names than their launcher.
void RankSession::name_members(std::string_view own_job) {
  const auto& support = support_of(mpi_->library().provider);
  for (Communicator& communicator : dump().communicators)
    for (auto* members : {&communicator.members, &communicator.remote.members})
      for (Member& member : *members)
        member.job = support.launchers_name(member.job, own_job);
  // Who was spawned knows its parent by the MPI's name ("JOB.RANK"), the parent itself by the
  // launcher's.
  const auto& recorded = support_of_mpi(mpi_->library());
  for (Joint& joint : dump().joints)
    if (const auto dot = joint.mark.rfind('.');
        joint.call == "MPI_Init" && dot != std::string::npos)
      joint.mark =
          recorded.launchers_name(joint.mark.substr(0, dot), own_job) + joint.mark.substr(dot);
}

Result<void> RankSession::choose_handle_dll() {
  report_.begin(PhaseName::types, "types");
  if (auto types = mpi_->find_types(); !types)
    return types;
  // The recorder needs no types. But the MPI's own memory knows facts that the recorder does not,
  // such as whether a request is complete; these need the types.
  if (!mpi_->library().recorded.empty())
    if (auto types = mpi_->find_types_of_mpi();
        !types && types.error().code != codes::types_missing)
      report_.warnings().push_back(std::move(types).error());
  auto dll = choose_dll_for_handles(options().dll, process_->space(), mpi_->library());
  if (!dll)
    return forward(std::move(dll));
  report_.outcome().dll_path = dll->path.string();
  auto& warnings = report_.warnings();
  warnings.insert(warnings.end(), dll->warnings.begin(), dll->warnings.end());
  handle_dll_.emplace(std::move(*dll));
  return {};
}

Result<void> RankSession::ask_handles() {
  report_.begin(PhaseName::walk, "handles");
  auto walk = plan_worker(&*handle_dll_, "handles");
  walk.walk_end = PhaseClock::Clock::now() + options().max_walk;
  walk.deadline = access_->limit(1.0, walk.walk_end);
  const WorkScope scope({access_->deadline(), stop_});
  return ask_rank_handles(walk, dump(), report_.warnings());
}

Result<void> RankSession::read_variables() {
  report_.begin(PhaseName::walk, "variables");
  const WorkScope scope({access_->deadline(), stop_});
  auto read =
      read_rank_variables(*process_, *mpi_, options().filters.variables, report_.warnings());
  if (!read)
    return forward(std::move(read));
  dump().variables = std::move(*read);
  return {};
}

void RankSession::release() {
  // Takes the data that is gone after the release. The remaining work waits until the target runs
  // on.
  const auto touched = process_ ? process_->touched() : PageRuns();
  if (process_ && options().cache != CacheMode::none)
    dump().statistics.pages_read = process_->pages_read();
  if (access_->holds())
    report_.begin(PhaseName::detach, "detach");
  if (const auto released = access_->release(process_.get(), report_.any_error())) {
    if (!released->done)
      report_.say_release(released->done.error());
    for (auto& warning : access_->take_warnings())
      report_.warnings().push_back(std::move(warning));
    if (released->died) {
      report_.say_death(*released->died);
      stacks_.forget();
      no_stacks_.reset();
    }
    report_.outcome().held = released->held;
    dump().stopped_ms = milliseconds(released->held.to - released->held.from);
    dump().stopped_at = released->stopped_at;
    if (const auto trouble = tools_.guardian.trouble())
      report_.say(*trouble, RankError::Level::warning);
    const auto link = access_->link_estimate();
    if (link.round_trip > 0)
      dump().statistics.rtt_us = link.round_trip * 1e6;
    if (link.bytes_per_second > 0)
      dump().statistics.bandwidth_bps = link.bytes_per_second * 8;
  }
  if (process_)
    take_statistics(touched);
}

void RankSession::take_statistics(const PageRuns& touched) {
  if (options().cache != CacheMode::none)
    dump().statistics.pages_touched = count_pages(touched);
  if (walked_ || stacks_.captured())
    replay_.take_down(process_->identity(), walked_ ? touched : union_of(touched, replay_.known()),
                      &process_->images());
  if (!walked_)
    return;
  auto facts = stop_facts();
  facts.replay = touched;
  report_.outcome().next = plan_stop(facts);
}

RankStatus RankSession::conclude() const {
  if (options().queues) {
    const auto status = report_.conclude(walked_, unread_);
    // Without its queues, a rank still shows where it stands.
    return status == RankStatus::failed && report_.has_stacks() ? RankStatus::partial : status;
  }
  return report_.conclude(has_answers(), false);
}

bool RankSession::has_answers() const {
  if (options().variables)
    return report_.has_variables();
  if (options().handles)
    return report_.has_handles();
  return report_.has_stacks();
}

RankOutcome dump_rank(const TargetSpec& target, const SharedTools& tools,
                      std::shared_ptr<rsp::SharedStub>& stub, const RankObserver& observer,
                      std::stop_token stop) {
  RankSession session(target, tools, stub, observer);
  if (session.reach(std::move(stop)) && session.open())
    session.look();
  return session.close();
}

} // namespace mqbridge
