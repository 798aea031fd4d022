#include "host/dump/rank_dump.h"

#include "host/dump/describe_run.h"
#include "host/dump/phase_clock.h"
#include "host/dump/rank_walk.h"
#include "host/dump/select_types.h"
#include "host/mqs/mpi_library.h"
#include "host/mqs/mpi_support.h"
#include "host/target/environment.h"
#include "host/target/target.h"
#include "rsp/commands/run_until.h"
#include "rsp/server.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<std::string> host_of(const rsp::Endpoint& endpoint) {
  if (const auto* tcp = std::get_if<rsp::TcpEndpoint>(&endpoint.where))
    return tcp->host;
  std::array<char, 256> name{};
  const bool here = std::holds_alternative<rsp::UnixEndpoint>(endpoint.where) ||
                    endpoint.text.starts_with("local:");
  if (here && gethostname(name.data(), name.size() - 1) == 0)
    return name.data();
  return std::nullopt;
}

/// One target from connect to detach; each step adds to the outcome and says whether the next makes
/// sense.
class RankRun {
public:
  RankRun(const TargetSpec& target, const SharedTools& tools, std::shared_ptr<rsp::Server>& server,
          const std::function<void(std::string_view, std::uint64_t)>& progress)
      : target_spec_(target), tools_(tools), server_(server), progress_(progress) {
    dump().endpoint = target.endpoint.text;
    dump().host = host_of(target.endpoint);
    outcome_.claim.given = target.rank;
  }

  RankOutcome run(std::stop_token stop) {
    stop_ = std::move(stop);
    if (auto done = guarded_work(); !done)
      report(done.error(), RankError::Level::error);
    release();
    clock_.finish(dump().statistics);
    dump().status = conclude();
    return std::move(outcome_);
  }

private:
  RankDump& dump() { return outcome_.dump; }
  const DumpOptions& options() const { return tools_.options; }

  void begin(PhaseName phase, std::string_view name) {
    clock_.begin(phase);
    if (progress_)
      progress_(name, 0);
  }

  /// An exception out of a rank's thread would end the program, and all other ranks' dumps with it.
  Result<void> guarded_work() {
    try {
      return work();
    } catch (const std::exception& exception) {
      return fail("internal",
                  fmt::format("{}: the dump of this target ended early: {}", dump().endpoint,
                              exception.what()),
                  "where memory is short: fewer targets at once, or --max-operations N");
    }
  }

  Result<void> work() {
    if (auto done = connect(); !done)
      return done;
    std::stop_callback cancel(stop_, [this] { client_->cancel(); });
    if (auto done = attach(); !done)
      return done;
    if (auto done = load_images(); !done)
      return done;
    if (dump().mpi->state == MpiState::not_initialized || dump().mpi->state == MpiState::finalized)
      return {};
    // Both are looked for, so that who lacks both learns it at once.
    auto types = find_types();
    if (types)
      types = read_transport();
    auto dll = choose_dll(options().dll, mpi_.dll_name, mpi_.provider, mpi_.version.value_or(""));
    if (dll)
      outcome_.dll_path = dll->path.string();
    if (!types && !dll)
      report(types.error(), RankError::Level::error);
    if (!dll)
      return forward(std::move(dll));
    if (!types)
      return types;
    return walk(*dll);
  }

  Result<void> connect() {
    begin(PhaseName::connect, "connect");
    contact_ = Clock::now();
    stopped_at_ = std::chrono::system_clock::now();
    auto client = connect_or_share();
    if (!client)
      return forward(std::move(client));
    client_ = std::move(*client);
    if (target_spec_.endpoint.pid)
      server_ = client_->server();
    clock_.watch(client_.get());
    outcome_.features = client_->features();
    return {};
  }

  Result<std::unique_ptr<rsp::Client>> connect_or_share() {
    const auto& endpoint = target_spec_.endpoint;
    if (server_ && server_->usable() && endpoint.pid)
      return rsp::Client::share(server_, endpoint);
    const bool left = server_ && server_->left_after_refusal();
    server_.reset(); // it talks to one client at a time
    auto client =
        rsp::Client::connect(endpoint, {options().connect_timeout, options().silence_timeout,
                                        options().trace, &tools_.guardian, stop_});
    if (!client && left)
      return fail("attach.server_left",
                  fmt::format("{}: the server ended when it could not attach to the process before "
                              "this one, as gdbserver --once does",
                              endpoint.text),
                  "on the node: gdbserver --multi :PORT    (without --once)");
    return client;
  }

  Result<void> attach() {
    begin(PhaseName::attach, "attach");
    const auto start = Clock::now();
    const auto start_wall = std::chrono::system_clock::now();
    limit_stop(start, 1.0);
    auto attachment = rsp::attach(*client_);
    if (!attachment)
      return forward(std::move(attachment));
    if (attachment->pid != 0)
      dump().pid = attachment->pid;
    if (!attachment->stopped_before_us) {
      contact_ = start;
      stopped_at_ = start_wall;
    }
    if (!options().run_until)
      entry_hint_ = hint_at_entry(*attachment);
    else if (auto done = run_to_signal(*attachment); !done)
      return done;
    held_ = true;
    // A stub that was started here stopped the process for us, from its start on.
    const bool ours = std::holds_alternative<rsp::CommandEndpoint>(target_spec_.endpoint.where);
    dump().stopped_before_us = attachment->stopped_before_us && !ours;
    return learn_target(*attachment);
  }

  /// The time that counts as held begins at the stop.
  Result<void> run_to_signal(rsp::Attachment& attachment) {
    client_->set_deadline(std::nullopt);
    if (progress_)
      progress_("run", 0);
    const auto run = rsp::run_until(*client_, *options().run_until, attachment);
    if (!run)
      return Failure(run.error());
    contact_ = Clock::now();
    stopped_at_ = std::chrono::system_clock::now();
    limit_stop(contact_, 1.0);
    if (const auto warning = describe_run(*run, *options().run_until))
      report(*warning, RankError::Level::warning);
    return {};
  }

  FetchContext fetch_context() {
    FetchContext context{&tools_.fetcher};
    if (options().max_stop)
      context.deadline = contact_ + *options().max_stop;
    context.cancelled = [this] { return stop_.stop_requested(); };
    if (progress_)
      context.progress = [this](std::string_view text) { progress_(text, 0); };
    return context;
  }

  Result<void> learn_target(const rsp::Attachment& attachment) {
    const TargetOptions how{options().images, fetch_context()};
    auto target = Target::adopt(*client_, attachment, tools_.files, how);
    if (!target)
      return forward(std::move(target));
    target_ = std::move(*target);
    dump().executable = target_->executable();
    dump().platform = target_->platform();
    auto environment = read_environment(*client_, attachment.pid);
    if (!environment)
      return forward(std::move(environment));
    outcome_.claim.name_space = environment->job;
    outcome_.claim.environment_rank = environment->rank;
    outcome_.claim.environment_size = environment->size;
    return {};
  }

  Result<void> load_images() {
    begin(PhaseName::images, "images");
    Warnings warnings;
    auto images = target_->load_images(warnings);
    for (const auto& warning : warnings)
      report(warning, RankError::Level::warning);
    if (!images)
      return forward(std::move(images));
    images_.emplace(std::move(*images));
    outcome_.loaded_objects = images_->images().size();
    auto mpi = identify_mpi(*images_, target_->memory(), target_->platform());
    if (!mpi)
      return forward(std::move(mpi));
    if (!*mpi)
      return fail("mpi.not_found",
                  fmt::format("{}: {} is no MPI program, or its MPI library is not on this host",
                              dump().endpoint, dump().executable.value_or("the process")),
                  with_entry_hint(hint_at_files()));
    mpi_ = std::move(**mpi);
    auto& info = dump().mpi.emplace();
    info.name = mpi_.name;
    info.version = mpi_.version;
    if (mpi_.image != nullptr && mpi_.image->file && !mpi_.image->file->build_id().empty())
      info.build_id = mpi_.image->file->build_id();
    return read_state();
  }

  std::string hint_at_files() const {
    std::string hint = "check the process id; files of another machine: --sysroot DIR";
    if (client_->features().vfile && options().fetch.mode != FetchMode::always)
      hint += ", or --fetch-files always";
    return hint;
  }

  std::string with_entry_hint(std::string hint) const {
    return entry_hint_ ? hint + "\n" + *entry_hint_ : hint;
  }

  Result<void> read_state() {
    auto state =
        support_of(mpi_.provider).read_state(*images_, target_->memory(), target_->platform());
    if (!state)
      return forward(std::move(state));
    dump().mpi->state = *state;
    if (*state == MpiState::not_initialized)
      report({"mpi.not_initialized",
              "the process has not finished MPI_Init: there are no queues yet",
              with_entry_hint("dump again when it has")},
             RankError::Level::warning);
    if (*state == MpiState::finalized)
      report(
          {"mpi.finalized", "the process is in or past MPI_Finalize: there are no queues any more"},
          RankError::Level::warning);
    return {};
  }

  Result<void> find_types() {
    begin(PhaseName::types, "types");
    if (!support_of(mpi_.provider).needs_types())
      return {};
    Warnings warnings;
    auto choice = select_types(
        *images_, mpi_, target_->memory(), target_->platform(), options().types_files,
        options().pack_directories,
        [&] { return target_->find_debug_information(*images_, warnings); }, warnings);
    for (const auto& warning : warnings)
      report(warning, RankError::Level::warning);
    if (!choice) {
      dump().mpi->types_match = TypesMatch::none;
      return forward(std::move(choice));
    }
    dump().mpi->types_source = choice->source;
    dump().mpi->types_match = choice->match;
    return {};
  }

  Result<void> read_transport() {
    auto transport =
        support_of(mpi_.provider).read_transport(*images_, target_->memory(), target_->platform());
    if (!transport)
      return forward(std::move(transport));
    dump().mpi->transport = transport->name;
    bypassed_ = transport->bypasses_dll;
    if (transport->warning)
      report(*transport->warning, RankError::Level::warning);
    return {};
  }

  Result<void> walk(const DllChoice& dll) {
    if (dll.warning)
      report(*dll.warning, RankError::Level::warning);
    begin(PhaseName::walk, "walk");
    RankWalk walk{options(), *target_, *images_, mpi_, dll};
    walk.bypassed = bypassed_;
    walk.world_rank_hint = outcome_.claim.environment_rank.value_or(-1);
    // The last tenth of --max-stop is for reading the statuses of what was found: without it they
    // could not be trusted.
    walk.deadline = limit_stop(contact_, 0.9);
    walk.before_repairs = [this] { limit_stop(contact_, 1.0); };
    walk.progress = [this](std::uint64_t operations) {
      if (progress_)
        progress_("walk", operations);
    };
    walk.stop = stop_;
    auto outcome = walk_rank(walk, dump());
    for (const auto& warning : outcome.warnings)
      report(warning, RankError::Level::warning);
    walked_ = outcome.found;
    return outcome.result;
  }

  /// Ends every exchange but the detach when `share` of --max-stop has passed since `from`.
  std::optional<Clock::time_point> limit_stop(Clock::time_point from, double share) {
    if (!options().max_stop)
      return std::nullopt;
    const auto deadline =
        from + std::chrono::duration_cast<Clock::duration>(*options().max_stop * share);
    client_->set_deadline(deadline);
    return deadline;
  }

  void release() {
    if (!held_)
      return;
    begin(PhaseName::detach, "detach");
    if (auto done = target_ ? target_->detach() : rsp::detach(*client_); !done)
      report(done.error(), RankError::Level::error);
    outcome_.held = HeldTime{contact_, Clock::now()};
    dump().stopped_ms = milliseconds(outcome_.held->to - contact_);
    dump().stopped_at = rfc3339(stopped_at_);
    if (target_)
      dump().statistics.pages_read = target_->pages_read();
  }

  void report(const Error& error, RankError::Level level) {
    dump().errors.push_back({std::string(error.code), level, error.message, error.hint});
  }

  RankStatus conclude() {
    const auto& errors = dump().errors;
    const bool failed = std::any_of(errors.begin(), errors.end(), [](const auto& error) {
      return error.level == RankError::Level::error;
    });
    if (failed && !walked_)
      return RankStatus::failed;
    // An MPI that runs has communicators: a walk that found none has not seen them.
    return failed || bypassed_ || !walked_ || cut_short() ? RankStatus::partial : RankStatus::ok;
  }

  bool cut_short() {
    for (const auto& communicator : dump().communicators)
      for (const auto& queue : communicator.queues)
        if (queue.state == QueueState::error || queue.truncated_by != TruncatedBy::nothing)
          return true;
    return false;
  }

  const TargetSpec& target_spec_;
  const SharedTools& tools_;
  std::shared_ptr<rsp::Server>& server_;
  const std::function<void(std::string_view, std::uint64_t)>& progress_;
  RankOutcome outcome_;
  std::stop_token stop_;
  PhaseClock clock_;
  Clock::time_point contact_;
  std::chrono::system_clock::time_point stopped_at_;
  std::unique_ptr<rsp::Client> client_;
  std::unique_ptr<Target> target_;
  std::optional<ImageSet> images_;
  std::optional<std::string> entry_hint_; ///< why there may be nothing to see yet
  MpiLibrary mpi_;
  bool held_ = false;     ///< attached, and stopped for the dump
  bool walked_ = false;   ///< at least one communicator was found, whatever the filters leave
  bool bypassed_ = false; ///< the transport keeps its queues where the DLL does not look
};

} // namespace

RankOutcome dump_rank(const TargetSpec& target, const SharedTools& tools,
                      std::shared_ptr<rsp::Server>& server,
                      const std::function<void(std::string_view, std::uint64_t)>& progress,
                      std::stop_token stop) {
  return RankRun(target, tools, server, progress).run(std::move(stop));
}

} // namespace mqbridge
