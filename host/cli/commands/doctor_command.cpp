#include "host/cli/commands/execute.h"
#include "host/cli/terminal/fetch_question.h"
#include "host/cli/terminal/output.h"
#include "host/cli/terminal/session.h"
#include "host/doctor/examine.h"
#include "host/doctor/examine_job.h"
#include "host/dump/workshop.h"
#include "host/report/text_report.h"

#include <algorithm>

namespace mqbridge {
namespace {

bool has_fault(const Checklist& checklist) {
  return std::any_of(checklist.checks.begin(), checklist.checks.end(),
                     [](const Check& check) { return check.level == Check::Level::fault; });
}

/// Each target in full, one after the other. True: none has a fault.
bool examine_each(const std::vector<TargetSpec>& targets, Workshop& workshop,
                  const TextOptions& text, Session& session) {
  bool good = true;
  for (const TargetSpec& target : targets) {
    if (&target != &targets.front())
      session.output.sink()("\n");
    const Checklist checklist = examine(target, workshop, session.signals.token());
    write_text(checklist, text, session.output.sink());
    good = good && !has_fault(checklist);
    session.output.flush(); // while the next one is looked at
    if (session.signals.token().stop_requested())
      break;
  }
  return good;
}

/// The nodes of a job, at once.
bool examine_whole(ChosenTargets chosen, Workshop& workshop, const TextOptions& text,
                   Session& session) {
  auto job = examine_job(chosen.targets, workshop, session.signals.token());
  job.troubles = std::move(chosen.troubles);
  write_text(job, text, session.output.sink());
  const auto is_error = [](const RankError& error) {
    return error.level == RankError::Level::error;
  };
  return std::none_of(job.troubles.begin(), job.troubles.end(), is_error) &&
         std::none_of(job.groups.begin(), job.groups.end(),
                      [](const NodeChecklist& group) { return has_fault(group.list); });
}

} // namespace

int execute(const DoctorCommand& command, const Installation& installation) {
  auto opened = Session::open(command.output, command.trace);
  if (!opened) {
    print_error(opened.error());
    return exit_output;
  }
  Session& session = **opened;
  DumpOptions options = session.complete(command.options, installation);
  options.fetch.ask = ask_on_terminal(session.signals.token());
  options.stacks = false; // there is nothing to judge in them
  TextOptions text;
  text.color = wants_color(command.color, session.output);
  text.width = text_width(session.output);
  auto workshop = Workshop::open(std::move(options));
  if (!workshop) {
    print_error(workshop.error());
    return session.close(exit_partial);
  }
  auto chosen = choose_targets(command.targets, **workshop, session.signals.token());
  if (!chosen) {
    print_error(chosen.error());
    return session.close(session.status_or_interrupted(exit_partial));
  }
  if (const auto some = require_targets(*chosen); !some) {
    print_error(some.error());
    return session.close(session.status_or_interrupted(exit_partial));
  }
  const bool good = command.whole_job ? examine_whole(std::move(*chosen), **workshop, text, session)
                                      : examine_each(chosen->targets, **workshop, text, session);
  session.signals.exit_on_next();
  return session.close(session.status_or_interrupted(good ? exit_ok : exit_partial));
}

} // namespace mqbridge
