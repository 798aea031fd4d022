#include "host/cli/commands/execute.h"
#include "host/cli/targets/targets.h"
#include "host/cli/terminal/output.h"
#include "host/cli/terminal/session.h"
#include "host/dump/workshop.h"
#include "host/job/find_ranks.h"
#include "host/report/ranks_documents.h"
#include "host/report/text_ranks.h"

namespace mqbridge {
namespace {

Result<void> save(const RanksCommand& command, const FoundJobs& findings) {
  std::vector<TargetSpec> targets;
  for (const auto& job : findings.jobs)
    for (const auto& rank : job.ranks)
      targets.push_back(rank.target);
  return save_targets(command.targets.save, targets, findings.faults);
}

int status_of(const FoundJobs& findings) {
  if (findings.jobs.empty())
    return exit_nothing;
  return findings.faults.empty() ? exit_ok : exit_partial;
}

void write_report(const FoundJobs& findings, const RanksCommand& command,
                  const Installation& installation, Output& output) {
  if (command.format == Format::json)
    return write_json(findings, installation.version, output.sink());
  if (command.format == Format::tsv)
    return write_tsv(findings, output.sink());
  RanksTextOptions text;
  text.full = command.full;
  text.color = wants_color(command.color, output);
  text.width = text_width(output);
  text.saved = findings.jobs.empty() ? "" : command.targets.save.string();
  text.search = command.words;
  write_text(findings, text, output.sink());
}

} // namespace

int execute(const RanksCommand& command, const Installation& installation) {
  auto opened = Session::open(command.output, command.trace);
  if (!opened) {
    print_error(opened.error());
    return exit_output;
  }
  Session& session = **opened;
  auto workshop = Workshop::open(session.complete(command.options, installation));
  if (!workshop) {
    print_error(workshop.error());
    return exit_nothing;
  }
  const auto findings = find_ranks(*command.targets.job, **workshop, session.signals.token());
  session.signals.exit_on_next();
  if (auto saved = save(command, findings); !saved) {
    print_error(saved.error());
    return session.close(exit_output);
  }
  write_report(findings, command, installation, session.output);
  return session.close(session.status_or_interrupted(status_of(findings)));
}

} // namespace mqbridge
