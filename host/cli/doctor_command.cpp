#include "host/cli/execute.h"
#include "host/cli/fetch_question.h"
#include "host/cli/screen.h"
#include "host/cli/session.h"
#include "host/doctor/examine.h"
#include "host/report/text_report.h"

#include <algorithm>

namespace mqbridge {

int execute(const DoctorCommand& command, const Installation& installation) {
  auto opened = Session::open(command.output, command.trace);
  if (!opened) {
    print_error(opened.error());
    return exit_output;
  }
  Session& session = **opened;
  DumpOptions options = session.complete(command.options, installation);
  options.fetch.ask = ask_on_terminal({}, session.signals.token());
  const Checklist checklist = examine(command.target, options, session.signals.token());
  session.signals.exit_on_next();
  TextOptions text;
  text.color = wants_color(command.color, session.output);
  text.width = text_width(session.output);
  write_text(checklist, text, session.output.sink());
  const bool fault =
      std::any_of(checklist.checks.begin(), checklist.checks.end(),
                  [](const Check& check) { return check.level == Check::Level::fault; });
  return session.close(session.status_or_interrupted(fault ? exit_partial : exit_ok));
}

} // namespace mqbridge
