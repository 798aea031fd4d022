#include "host/cli/execute.h"
#include "host/cli/fetch_question.h"
#include "host/cli/screen.h"
#include "host/cli/session.h"
#include "host/doctor/examine.h"
#include "host/dump/workshop.h"
#include "host/report/text_report.h"

#include <algorithm>

namespace mqbridge {
namespace {

bool has_fault(const Checklist& checklist) {
  return std::any_of(checklist.checks.begin(), checklist.checks.end(),
                     [](const Check& check) { return check.level == Check::Level::fault; });
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
  TextOptions text;
  text.color = wants_color(command.color, session.output);
  text.width = text_width(session.output);
  auto workshop = Workshop::open(std::move(options));
  if (!workshop) {
    print_error(workshop.error());
    return session.close(exit_partial);
  }
  const auto chosen = choose_targets(command.targets, **workshop, session.signals.token());
  if (!chosen) {
    print_error(chosen.error());
    return session.close(session.status_or_interrupted(exit_partial));
  }
  bool fault = false;
  for (const TargetSpec& target : chosen->targets) {
    if (&target != &chosen->targets.front())
      session.output.sink()("\n");
    const Checklist checklist = examine(target, **workshop, session.signals.token());
    write_text(checklist, text, session.output.sink());
    fault = fault || has_fault(checklist);
    session.output.flush(); // while the next one is looked at
    if (session.signals.token().stop_requested())
      break;
  }
  session.signals.exit_on_next();
  return session.close(session.status_or_interrupted(fault ? exit_partial : exit_ok));
}

} // namespace mqbridge
