#include "host/doctor/examine.h"

#include "host/codes.h"
#include "host/disk/command_output.h"
#include "host/dump/rank/rank_session.h"
#include "host/dump/target/node_server.h"
#include "host/dump/values/operation_counts.h"
#include "host/dump/workshop.h"
#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace mqbridge {
namespace {

using Level = Check::Level;

/// The steps in order, and which error codes (by prefix) belong to each. A step after a faulty one
/// is skipped.
struct Step {
  std::string_view subject;
  std::vector<std::string_view> codes;
};

const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
      {"reach",
       {"connect.", "core.corrupt", "core.filtered", "core.no_executable", "core.not_a_core",
        "core.open", "core.truncated", "guardian.", "node.", "stub.", "interrupted", "stop."}},
      {"stub", {}},
      {"attach", {"attach.", "ptrace.", "run.", "target.died", "target.stopped"}},
      {"platform",
       {"target.", "auxv.", "libraries.", "image.", "memory.", "vfile.", "fetch.", "files.",
        "debuginfod."}},
      {"MPI", {"mpi."}},
      {"types", {"types.", "pack.", "elf.", "dwarf."}},
      {"transport", {"transport."}},
      {"DLL",
       {"dll.not_found", "dll.untrusted", "dll.architecture", "dll.not_elf", "dll.load",
        "dll.missing_function", "dll.version", "dll.width", "worker.", "sandbox."}},
      {"recorder", {"recorder."}},
      {"queues", {"core.left_out", "dll.", "repair."}},
  };
  return all;
}

std::string_view subject_of(std::string_view code) {
  if (code == codes::types_partial)
    return {}; // limits_of_mpi() says it
  for (const auto& step : steps())
    for (const auto prefix : step.codes)
      if (code.starts_with(prefix))
        return step.subject;
  return "queues";
}

bool is_after_mpi(std::string_view subject) {
  const auto& all = steps();
  const auto mpi =
      std::find_if(all.begin(), all.end(), [](const Step& step) { return step.subject == "MPI"; });
  return std::any_of(mpi + 1, all.end(), [&](const Step& step) { return step.subject == subject; });
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end != 0)
      lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string features_of(const rsp::Features& features) {
  std::vector<std::string_view> names{features.no_ack ? "no-ack" : "acknowledging"};
  if (features.vfile)
    names.emplace_back("vFile");
  if (features.binary_read != rsp::BinaryRead::none)
    names.emplace_back("binary reads");
  if (features.qxfer_auxv || features.qxfer_libraries_svr4)
    names.emplace_back("qXfer");
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The guardian is no help when this machine or the network is lost.
std::string_view if_the_link_breaks(rsp::LostLink lost) {
  switch (lost) {
  case rsp::LostLink::runs:
    return "";
  case rsp::LostLink::stays:
    return "; if the link breaks: no";
  case rsp::LostLink::depends:
    return "; if the link breaks: as it was started";
  case rsp::LostLink::unknown:
    break;
  }
  return "; if the link breaks: unknown";
}

const Phase* find_phase(const RankDump& rank, PhaseName name) {
  const auto& phases = rank.statistics.phases;
  const auto found = std::find_if(phases.begin(), phases.end(),
                                  [&](const Phase& phase) { return phase.name == name; });
  return found == phases.end() ? nullptr : &*found;
}

std::string_view state_name(MpiState state) {
  switch (state) {
  case MpiState::not_initialized:
    return "not initialized";
  case MpiState::initialized:
    return "initialized";
  case MpiState::finalizing:
    return "in MPI_Finalize";
  case MpiState::finalized:
    return "finalized";
  case MpiState::unknown:
    break;
  }
  return "state unknown";
}

/// Makes a checklist of the results of one dump of the target.
class Diagnosis {
public:
  /// `is_core`: there is no stub, and nothing to attach to.
  Diagnosis(const RankOutcome& outcome, bool is_core)
      : outcome_(outcome), rank_(outcome.dump), is_core_(is_core) {}

  std::vector<Check> run() {
    for (const auto& step : steps())
      examine(step.subject);
    limits_of_mpi();
    if (faulty_.empty())
      plan();
    return std::move(checks_);
  }

  const std::optional<DumpCost>& cost() const { return cost_; }

  bool queues_readable() const {
    const auto unavailable = [](const Communicator& communicator) {
      return communicator.queue(OpClass::send).state == QueueState::unavailable &&
             communicator.queue(OpClass::receive).state == QueueState::unavailable;
    };
    const auto& all = rank_.communicators;
    return faulty_.empty() && !without_queues() &&
           (all.empty() || !std::all_of(all.begin(), all.end(), unavailable));
  }

private:
  /// Before MPI_Init and after MPI_Finalize the dump ends before it comes to the types.
  bool without_queues() const {
    return rank_.mpi && (rank_.mpi->state == MpiState::not_initialized ||
                         rank_.mpi->state == MpiState::finalized);
  }

  void examine(std::string_view subject) {
    if (subject == "recorder" && !is_recorded())
      return;
    if (!faulty_.empty())
      return after_fault(subject);
    if (without_queues() && is_after_mpi(subject))
      return add(Level::skip, subject, "needs an initialized MPI");
    const auto before = checks_.size();
    for (const auto& error : rank_.errors) {
      if (subject_of(error.code) != subject || error.code == codes::queue_no_stacks)
        continue; // doctor itself asks for no stacks
      const bool fault = error.level == RankError::Level::error;
      const bool news =
          error.code == codes::run_stopped && error.hint.empty(); // as it was asked for
      add(fault ? Level::fault : (news ? Level::ok : Level::limit), subject, error.message,
          lines_of(error.hint));
      if (fault)
        faulty_ = subject;
    }
    if (faulty_.empty())
      praise(subject, before);
  }

  /// Steps after a faulty one are not known; but the DLL is looked for without the types, too.
  void after_fault(std::string_view subject) {
    const auto own =
        std::find_if(rank_.errors.begin(), rank_.errors.end(), [&](const RankError& error) {
          return error.level == RankError::Level::error && subject_of(error.code) == subject;
        });
    if (subject == "DLL" && own != rank_.errors.end())
      add(Level::fault, subject, own->message, lines_of(own->hint));
    else if (subject == "DLL" && outcome_.dll_path)
      add(Level::ok, subject, *outcome_.dll_path);
    else
      add(Level::skip, subject, fmt::format("needs {}", faulty_));
  }

  /// Adds a line that says what works, in front of the limits that were found in the same step.
  void praise(std::string_view subject, std::size_t before) {
    if (subject == "queues" && !queues_readable())
      return add(Level::skip, subject, "needs a transport whose queues can be read");
    auto text = good_news(subject);
    if (text.empty())
      return;
    checks_.insert(checks_.begin() + static_cast<std::ptrdiff_t>(before),
                   Check{Level::ok, std::string(subject), std::move(text), {}});
  }

  std::string good_news(std::string_view subject) const {
    if (subject == "reach")
      return reach();
    if (subject == "stub")
      return stub();
    if (subject == "attach")
      return attach();
    if (subject == "platform")
      return platform();
    if (subject == "MPI")
      return mpi();
    if (subject == "types" && rank_.mpi && rank_.mpi->types_source)
      return fmt::format("{}{}", *rank_.mpi->types_source,
                         rank_.mpi->types_match == TypesMatch::exact ? ", made for this very build"
                                                                     : "");
    const bool bypassed = std::ranges::find(rank_.errors, codes::transport_bypasses,
                                            &RankError::code) != rank_.errors.end();
    if (subject == "transport" && rank_.mpi && rank_.mpi->transport && !bypassed)
      return is_recorded()
                 ? fmt::format("{}; the recorder keeps the queues", *rank_.mpi->transport)
                 : support_named(rank_.mpi->name).describe_transport(*rank_.mpi->transport);
    if (subject == "DLL" && rank_.dll)
      return fmt::format("{}, compatibility {}", rank_.dll->path, rank_.dll->compatibility);
    if (subject == "DLL" && !rank_.communicators.empty())
      return "none: mqbridge reads the queues itself";
    if (subject == "recorder")
      return "it keeps messages, what calls wait for, collectives and message counts, from "
             "MPI_Init "
             "on";
    if (subject == "queues" && (rank_.dll || !rank_.communicators.empty()))
      return queues();
    return {};
  }

  std::string reach() const {
    if (is_core_)
      return "a core file: nothing is held";
    // Every phase also does other things (a stub is started, a process stopped, a DLL runs): the
    // one that did least of them comes nearest.
    std::optional<double> shortest;
    for (const auto& phase : rank_.statistics.phases)
      if (phase.round_trips > 0)
        shortest = std::min(shortest.value_or(phase.elapsed_ms),
                            phase.elapsed_ms / static_cast<double>(phase.round_trips));
    return shortest ? fmt::format("round trip {:.1f} ms", *shortest) : std::string();
  }

  std::string stub() const {
    if (is_core_ || find_phase(rank_, PhaseName::attach) == nullptr)
      return {}; // it was not spoken to: a gdbserver that cannot attach ends before
    const auto& features = outcome_.features;
    return fmt::format("{}{} ({}); target runs on if we vanish: yes{}", features.stub_name,
                       features.stub_version.empty() ? "" : " " + features.stub_version,
                       features_of(features), if_the_link_breaks(features.lost_link));
  }

  std::string attach() const {
    if (is_core_)
      return {};
    return rank_.stopped_before_us ? "the stub held the process already"
                                   : "the process was stopped, and runs on";
  }

  std::string platform() const {
    if (!rank_.platform)
      return {};
    return fmt::format("{} {} {}-bit; link map {} objects", rank_.platform->architecture,
                       rank_.platform->byte_order == ByteOrder::big ? "big" : "little",
                       8 * rank_.platform->pointer_size, outcome_.loaded_objects);
  }

  std::string mpi() const {
    if (!rank_.mpi)
      return {};
    auto text =
        fmt::format("{} {}, {}", rank_.mpi->name, rank_.mpi->version.value_or("(version unknown)"),
                    state_name(rank_.mpi->state));
    const auto& claim = outcome_.claim;
    if (rank_.world_rank && rank_.world_size)
      text += fmt::format(", rank {} of {} (MPI_COMM_WORLD)", *rank_.world_rank, *rank_.world_size);
    else if (claim.environment_rank && claim.environment_size)
      text += fmt::format(", rank {} of {} (environ)", *claim.environment_rank,
                          *claim.environment_size);
    return text;
  }

  /// Limits of the debug DLL, unless mqbridge reads the operations itself.
  void limits_of_mpi() {
    if (!rank_.mpi || without_queues())
      return;
    const auto types = std::ranges::find(rank_.errors, codes::types_partial, &RankError::code);
    bool said = types == rank_.errors.end();
    const auto& shows =
        is_recorded() ? support_of(rank_.dll->provider) : support_named(rank_.mpi->name);
    for (const auto& limit : shows.facts().dll.limits) {
      if (limit.read_without && !rank_.dll)
        continue;
      if (!limit.instead.empty() && unexpected_readable())
        add(Level::ok, limit.subject,
            fmt::format("{} from {}", limit.instead, rank_.mpi->transport.value_or("the MPI")));
      else if (!limit.instead.empty() && !std::exchange(said, true))
        add(Level::limit, limit.subject, types->message, lines_of(types->hint));
      else
        add(Level::limit, limit.subject, std::string(limit.text));
    }
  }

  /// Its queues are the recorder's, whatever the MPI's own debug DLL shows.
  bool is_recorded() const {
    return rank_.dll && support_of(rank_.dll->provider).facts().is_recorder;
  }

  bool unexpected_readable() const {
    return std::ranges::any_of(rank_.communicators, [](const Communicator& communicator) {
      return communicator.queue(OpClass::unexpected).state == QueueState::available;
    });
  }

  std::string queues() const {
    OperationCounts counts;
    for (const auto& communicator : rank_.communicators)
      for (const auto op_class : op_classes)
        counts.add(count_operations(communicator.queue(op_class), op_class));
    const auto others = counts.complete + counts.inactive + counts.unknown;
    return fmt::format("{} pending operations{} in {} communicators", counts.pending,
                       others > 0 ? fmt::format(", {} others", others) : "",
                       rank_.communicators.size());
  }

  /// Estimated from the measured speed of the link and the amount that was read.
  void plan() {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    const double measured = rank_.stopped_ms.value_or(rank_.statistics.elapsed_ms);
    const double held = outcome_.next ? Milliseconds(outcome_.next->held).count() : measured;
    const double total = rank_.statistics.elapsed_ms - measured + held;
    cost_ = DumpCost{total, is_core_ ? 0 : held};
    add(Level::plan, "dump",
        fmt::format("about {:.1f} s{}", total / 1000,
                    is_core_ ? "" : fmt::format(", target held {:.0f} ms", held)));
  }

  void add(Level level, std::string_view subject, std::string text,
           std::vector<std::string> fixes = {}) {
    checks_.push_back({level, std::string(subject), std::move(text), std::move(fixes)});
  }

  const RankOutcome& outcome_;
  const RankDump& rank_;
  const bool is_core_;
  std::vector<Check> checks_;
  std::string faulty_; ///< subject of the first fault
  std::optional<DumpCost> cost_;
};

Checklist checklist_of(const TargetSpec& target, const RankOutcome& outcome) {
  Diagnosis diagnosis(outcome, target.is_core());
  Checklist list;
  list.endpoint = target.text();
  list.checks = diagnosis.run();
  list.queues_readable = diagnosis.queues_readable();
  list.cost = diagnosis.cost();
  return list;
}

/// Whether the target's node has what --recorder names.
Check recorder_on_node(const TargetSpec& target, const SharedTools& tools,
                       const std::stop_token& stop) {
  const auto& path = tools.options.launch.recorder;
  const auto* const process = std::get_if<NodeProcess>(&target.where);
  if (process == nullptr || !node_command_of(target, tools).empty())
    return {Check::Level::skip,
            "recorder",
            fmt::format("whether {} is there cannot be seen {}", path,
                        process == nullptr ? "through a stub" : "behind --node-command"),
            {}};
  const auto file = node_file_start(process->node, path, SELFMAG, tools, stop);
  if (!file)
    return {Check::Level::fault,
            "recorder",
            fmt::format("--recorder: {}", file.error().message),
            {"copy a recorder there, or name the path under which the node has one: "
             "docs/recorder.md"}};
  if (*file != ELFMAG)
    return {Check::Level::fault,
            "recorder",
            fmt::format("--recorder: {} is no library", path),
            {"name a libmqbridge-recorder.so: docs/recorder.md"}};
  return {Check::Level::ok, "recorder", fmt::format("{} is there", path), {}};
}

/// The version that the gdbserver on the target's node prints: "13.1". The protocol does not tell
/// it. Empty: it is not known.
std::string gdbserver_version(const TargetSpec& target, const SharedTools& tools) {
  const auto* const process = std::get_if<NodeProcess>(&target.where);
  if (process == nullptr || !node_command_of(target, tools).empty())
    return {};
  const auto output = run_command(
      tools.launchers.command_on(process->node, {tools.options.launch.gdbserver, "--version"}),
      tools.options.connect_timeout);
  if (!output || output->exit_status != 0 || !output->text.starts_with("GNU gdbserver "))
    return {};
  const auto line = std::string_view(output->text).substr(0, output->text.find('\n'));
  const auto version = line.substr(line.rfind(' ') + 1);
  const bool is_version = version.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_version ? std::string(version) : std::string();
}

} // namespace

Checklist examine(const TargetSpec& target, const SharedTools& tools, std::stop_token stop) {
  std::shared_ptr<rsp::SharedStub> stub;
  auto outcome = dump_rank(target, tools, stub, {}, stop);
  if (outcome.features.stub_version.empty() &&
      find_phase(outcome.dump, PhaseName::attach) != nullptr)
    outcome.features.stub_version = gdbserver_version(target, tools);
  // On the stdio of a command it serves one client, and lets go when that ends.
  auto& lost = outcome.features.lost_link;
  const auto* const endpoint = std::get_if<rsp::Endpoint>(&target.where);
  const bool on_stdio =
      std::holds_alternative<NodeProcess>(target.where) ||
      (endpoint != nullptr && std::holds_alternative<rsp::CommandEndpoint>(endpoint->where));
  if (lost == rsp::LostLink::depends && on_stdio)
    lost = rsp::LostLink::runs;
  auto list = checklist_of(target, outcome);
  const bool is_reached = std::ranges::none_of(list.checks, [](const Check& check) {
    return check.level == Check::Level::fault && check.subject == "reach";
  });
  if (is_reached && !tools.options.launch.recorder.empty())
    list.checks.push_back(recorder_on_node(target, tools, stop));
  return list;
}

Checklist examine(const TargetSpec& target, Workshop& workshop, std::stop_token stop) {
  RunBudget budget(memory_left() / 2, 1);
  auto list = examine(target, workshop.tools(budget), std::move(stop));
  workshop.keep();
  return list;
}

} // namespace mqbridge
