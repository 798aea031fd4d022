#include "host/cli/arguments/raw_options.h"

#include "host/cli/arguments/option_groups.h"
#include "host/cli/arguments/parse_handles.h"
#include "host/cli/arguments/parse_vars.h"
#include "host/mpi/type_carrier.h"

#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace mqbridge {
namespace {

const char* const words_help = R"(Words of the text report:
  stops spread       between the first and the last rank's stop: how far apart they were seen
  job stalled        for so long at least one rank was held
  HELD               for so long this rank was held; >: its stub held it before, too
  SEND, RECV, UNEXP  pending operations. 2, 3 done: 3 more are complete, and listed until the
                     program asks for them. 1 inactive: persistent, and not started. 2/9: 2 of 9 are
                     shown (filters). 2+: or more. n/a: this MPI does not provide the queue. ?:
                     unknown. -: not asked for
  C1, C2, ...        a communicator; the same one has the same name on every rank
  2(0)               rank 2 of MPI_COMM_WORLD, which is rank 0 of the communicator
  9-7:-1             tags 9, 8 and 7 (FIRST-LAST:STEP), in the order of the queue
  *                  mqbridge corrected what the debug DLL said: --raw shows both)";

const char* const tree_help =
    R"(A line of the tree: how many ranks are in a call, which, the function, and the line at which the
function is. The calls that it makes stand below, indented. Within a call of the MPI nothing is
shown. A line that begins with "..." says why a stack goes no further out. Of more than 8 kinds of
stack those of most ranks are shown, and the loneliest.)";

const char* const dump_exit_help =
    R"(Exit status: 0 every rank complete; 1 some ranks partial or failed, or a
node not reached; 2 wrong usage; 3 nothing could be dumped; 4 --fail-on is met; 5 output not
written; 129, 130, 143 interrupted, every target released.)";

const char* const stacks_exit_help =
    R"(Exit status: 0 every rank complete; 1 some ranks partial or failed, or a
node not reached; 2 wrong usage; 3 nothing could be dumped; 5 output not written; 129, 130, 143
interrupted, every target released.)";

const char* const analyze_help =
    R"(A document is what `mqbridge dump --format json` or ndjson has written. Documents of the same
ranks are looks, one after the other; those of different ranks are parts of one job.

Exit status: 0 every rank complete; 1 some ranks partial or failed; 2 wrong usage; 3 nothing could
be read; 4 --fail-on is met; 5 output not written.)";

const char* const show_help =
    R"(A document is what `mqbridge dump --format json` or ndjson has written. Its verdict is made anew, of
all that it has, and stays so where --rank or another filter shows a part.

Exit status: 0 every rank complete; 1 some ranks partial or failed; 2 wrong usage; 3 nothing could
be read; 5 output not written.)";

const char* const ranks_exit_help =
    R"(Exit status: 0 all that could have ranks was looked at; 1 some
nodes were not; 2 wrong usage; 3 nothing was found; 5 output not written.)";

const char* const run_help =
    R"(D is seconds, or with s, m, h or d behind it: 90, 2.5s, 10m, 1h. 0 is no limit.
The command has stdin, stdout and stderr, the terminal and the signals of mqbridge, as under
timeout(1). With --silent its output comes through pipes.

Exit status: the command's, 128 + N where signal N ended it; 124 a limit was reached, or 4 where
--fail-on is met; 2 wrong usage; 125 mqbridge itself failed; 126 the command cannot be run, 127
there is none.)";

const char* const doctor_exit_help = R"(Exit status: 0 no fault; 1 faults found; 2 wrong usage;
5 output not written; 129, 130, 143 interrupted, every target released.)";

void add_service_options(CLI::App* dump, RawOptions& raw) {
  dump->option_defaults()->group("Service");
  add_value(dump, "--service", raw.service,
            "the service takes the look ($XDG_RUNTIME_DIR/mqbridge.socket)", "unix:PATH");
  add_value(dump, "--job", raw.job, "of this job, by its name there", "NAME");
}

void declare_dump(CLI::App& app, RawOptions& raw) {
  CLI::App* dump = app.add_subcommand("dump", "queues of one or many ranks, once");
  dump->footer(std::string(target_help) + "\n\n" + words_help + "\n\n" + dump_exit_help);
  dump->add_option("TARGET", raw.targets, "[RANK=]ENDPOINT, see below")->type_name("");
  add_job_options(dump, raw);
  add_collect_options(dump, raw);
  add_dll_options(dump, raw);
  add_file_options(dump, raw);
  add_image_option(dump, raw);
  add_waiting_options(dump, raw);
  add_holding_options(dump, raw);
  add_walking_options(dump, raw);
  add_filter_options(dump, raw);
  add_threads_option(dump, raw);
  dump->add_flag("--no-stacks", raw.no_stacks, "do not read which call each rank is in");
  add_python_option(dump, raw);
  add_verdict_options(dump, raw);
  add_cache_option(dump, raw);
  add_printing_options(dump, raw, {"text", "json", "ndjson", "tsv", "html", "dot", "collect"});
  add_queue_printing_options(dump, raw);
  add_redact_option(dump, raw);
  add_output_options(dump, raw);
  add_service_options(dump, raw);
}

/// The options of a dump that a verdict can have use for.
void declare_why(CLI::App& app, RawOptions& raw) {
  CLI::App* why =
      app.add_subcommand("why", "why a job does not move: the verdict alone, of two looks");
  why->footer(std::string(target_help) + "\n\n" + dump_exit_help);
  why->add_option("TARGET", raw.targets, "[RANK=]ENDPOINT, see below")->type_name("");
  add_job_options(why, raw);
  add_collect_options(why, raw);
  add_dll_options(why, raw);
  add_file_options(why, raw);
  add_image_option(why, raw);
  add_waiting_options(why, raw);
  add_holding_options(why, raw);
  add_walking_options(why, raw);
  add_python_option(why, raw);
  why->option_defaults()->group("Verdict");
  add_value(why, "--twice", raw.twice, "look again S seconds later (2); 0: look once", "S");
  add_fail_on_option(why, raw);
  add_cache_option(why, raw);
  add_printing_options(why, raw, {"text", "json", "html", "dot"});
  why->add_flag("--full", raw.full, "text: more than 25 lines where there are more");
  add_redact_option(why, raw);
  add_output_options(why, raw);
}

void declare_analyze(CLI::App& app, RawOptions& raw) {
  CLI::App* analyze = app.add_subcommand("analyze", "why the job of saved dumps does not move");
  analyze->footer(analyze_help);
  analyze->add_option("DUMP", raw.documents, "documents; - is stdin")->required()->type_name("");
  add_fail_on_option(analyze, raw);
  add_value(analyze, "--before", raw.before, "what has changed since this document", "FILE");
  analyze->option_defaults()->group("Printing");
  add_format_option(analyze, raw, {"text", "json", "ndjson", "html", "dot"});
  analyze->add_flag("--full", raw.full, "text: every rank, too, and nothing is left out");
  add_redact_option(analyze, raw);
  add_value(analyze, "-o", raw.output, "a file, not stdout: it appears complete or not at all",
            "FILE");
  add_color_option(analyze, raw);
}

void declare_show(CLI::App& app, RawOptions& raw) {
  CLI::App* show = app.add_subcommand("show", "the report of a saved dump again, or a part of it");
  show->footer(std::string(show_help));
  show->add_option("DUMP", raw.documents, "a document; - is stdin")
      ->required()
      ->expected(1)
      ->type_name("");
  add_filter_options(show, raw);
  show->add_flag("--no-analyze", raw.no_analyze, "no verdict");
  add_threads_option(show, raw);
  show->option_defaults()->group("Printing");
  add_format_option(show, raw, {"text", "json", "ndjson", "tsv", "html", "dot"});
  show->add_flag("--stats", raw.stats, "text: phases, round trips and bytes");
  add_queue_printing_options(show, raw);
  add_redact_option(show, raw);
  add_value(show, "-o", raw.output, "a file, not stdout: it appears complete or not at all",
            "FILE");
  add_color_option(show, raw);
}

void declare_stacks(CLI::App& app, RawOptions& raw) {
  CLI::App* stacks = app.add_subcommand("stacks", "call stacks of all ranks, merged into a tree");
  stacks->footer(std::string(target_help) + "\n\n" + tree_help + "\n\n" + stacks_exit_help);
  stacks->add_option("TARGET", raw.targets, "[RANK=]ENDPOINT, see below")->type_name("");
  add_job_options(stacks, raw);
  add_collect_options(stacks, raw);
  add_file_options(stacks, raw);
  add_image_option(stacks, raw);
  add_waiting_options(stacks, raw);
  add_holding_options(stacks, raw);
  add_threads_option(stacks, raw);
  add_python_option(stacks, raw);
  add_rank_option(stacks, raw);
  add_cache_option(stacks, raw);
  add_printing_options(stacks, raw, {"text", "json", "ndjson", "html", "collect"});
  stacks->add_flag("--full", raw.full,
                   "text: every kind of stack, with the calls inside of the MPI");
  add_redact_option(stacks, raw);
  add_output_options(stacks, raw);
}

/// CLI11 does not get to know the words behind `--`.
class OtherWordsFormatter : public CLI::Formatter {
public:
  explicit OtherWordsFormatter(std::string words) : words_(std::move(words)) {}
  std::string make_usage(const CLI::App* command, std::string name) const override {
    auto usage = CLI::Formatter::make_usage(command, std::move(name));
    usage.insert(usage.find_last_not_of('\n') + 1, words_);
    return usage;
  }

private:
  std::string words_;
};

void declare_run(CLI::App& app, RawOptions& raw) {
  CLI::App* run = app.add_subcommand(
      "run", "like timeout(1): runs a command, and says why it hangs when it does");
  run->formatter(std::make_shared<OtherWordsFormatter>(" -- COMMAND..."));
  run->footer(run_help);
  run->option_defaults()->group("Limits");
  add_value(run, "--timeout", raw.timeout, "the command may run so long", "D");
  add_value(run, "--silent", raw.silent, "and print nothing for so long", "D");
  add_value(run, "--kill-after", raw.kill_after, "SIGKILL so long after SIGTERM (10)", "D");
  run->option_defaults()->group("Recording");
  run->add_flag("--record-queues", raw.record_queues,
                "preload the recorder: queues of MPIs and transports that show none");
  add_value(run, "--recorder", raw.recorder,
            "with --record-queues: the recorder, by its path on the nodes", "PATH");
  add_node_options(run, raw);
  add_jobs_option(run, raw);
  add_dll_options(run, raw);
  add_file_options(run, raw);
  run->option_defaults()->group("Stopping");
  add_value(run, "--connect-timeout", raw.connect_timeout, "wait for a connection (10)", "S");
  add_value(run, "--stub-timeout", raw.stub_timeout, "longest silence of a stub (10)", "S");
  add_holding_options(run, raw);
  add_walking_options(run, raw);
  add_threads_option(run, raw);
  run->add_flag("--no-stacks", raw.no_stacks, "do not read which call each rank is in");
  add_python_option(run, raw);
  run->option_defaults()->group("Verdict");
  add_value(run, "--twice", raw.twice, "look again S seconds later (2); 0: look once", "S");
  add_fail_on_option(run, raw);
  add_queue_printing_options(run, raw);
  add_redact_option(run, raw);
  add_output_options(run, raw, "keep what was seen: the dump document (JSON), with its verdict");
  add_value(run, "--report", raw.report, "the same as a page for a browser (HTML)", "FILE");
}

void declare_doctor(CLI::App& app, RawOptions& raw) {
  CLI::App* doctor = app.add_subcommand(
      "doctor", "what works, what limits, what fails, and the line that mends it");
  doctor->footer(std::string(target_help) + "\n\n" + doctor_exit_help);
  doctor->add_option("TARGET", raw.targets, "[RANK=]ENDPOINT, see below")->type_name("");
  add_job_options(doctor, raw);
  add_dll_options(doctor, raw);
  add_file_options(doctor, raw);
  add_image_option(doctor, raw);
  doctor->option_defaults()->group("Recording");
  add_value(doctor, "--recorder", raw.recorder, "whether the nodes have this recorder", "PATH");
  add_waiting_options(doctor, raw);
  add_cache_option(doctor, raw);
  add_output_options(doctor, raw);
}

void declare_ranks(CLI::App& app, RawOptions& raw) {
  CLI::App* ranks = app.add_subcommand(
      "ranks", "finds the ranks of MPI jobs: of this host, unless an option says otherwise");
  ranks->footer(ranks_exit_help);
  add_job_options(ranks, raw);
  add_patience_options(ranks, raw);
  ranks->option_defaults()->group("Printing");
  add_format_option(ranks, raw, {"text", "json", "tsv"});
  ranks->add_flag("--full", raw.full, "text: a line for each rank, however many there are");
  add_output_options(ranks, raw);
}

const char* const debugger_help =
    R"(In gdb, `monitor mpi queues` prints the queues of this process, and `monitor mpi verdict` why its job
does not move: `monitor mpi help` lists the words.

Where mqbridge starts the gdbserver, the process is stopped when the debugger connects, and not
before. It runs on when the debugger detaches, quits, is killed, or loses its connection.)";

const char* const proxy_help = R"(In gdb: target remote /tmp/rank3.

Exit status: 0 the debugger has left; 1 something failed; 2 wrong usage; 129, 130, 143 interrupted,
the process released.)";

const char* const gdb_help =
    R"(Exit status: that of gdb; 1 no gdb could be started, or nothing was found; 2 wrong usage.)";

void declare_debugger(CLI::App* command, RawOptions& raw, const char* help) {
  command->footer(fmt::format("{}\n\n{}\n\n{}", target_help, debugger_help, help));
  command->add_option("TARGET", raw.targets, "[RANK=]ENDPOINT, see below")->type_name("");
  add_job_options(command, raw);
  add_rank_option(command, raw);
  add_dll_options(command, raw);
  add_file_options(command, raw);
  add_patience_options(command, raw);
  command->option_defaults()->group("Printing");
  add_value(command, "--trace", raw.trace, "every packet to and from the stub, a line each",
            "FILE");
}

void declare_proxy(CLI::App& app, RawOptions& raw) {
  CLI::App* proxy =
      app.add_subcommand("proxy", "a fast way for your own debugger to a process far away");
  add_value(proxy, "--listen", raw.listen,
            "where the debugger connects, on this host: unix:PATH, 127.0.0.1:PORT (0: a free one)",
            "ENDPOINT");
  add_value(proxy, "--on-disconnect", raw.on_disconnect,
            "when the debugger has vanished: the process runs on (detach), or stands still until "
            "the next one connects, for ever or for so many seconds",
            "detach|stay|wait=S");
  declare_debugger(proxy, raw, proxy_help);
}

void declare_gdb(CLI::App& app, RawOptions& raw) {
  CLI::App* gdb = app.add_subcommand("gdb", "your own gdb on a rank, wherever it is");
  gdb->formatter(std::make_shared<OtherWordsFormatter>(" [-- GDB ARGUMENTS]"));
  declare_debugger(gdb, raw, gdb_help);
}

const char* const serve_help =
    R"(Jobs: those of the configuration (TOML), each with a name and one of mpirun, slurm and targets, and
those that a client names. A look is a process of its own. Nobody but you comes in: by the Unix
socket (0600), or with a browser by a link that is good once. kill -HUP: the configuration is read
again.

Exit status: 0 ended by a signal; 1 it could not serve; 2 wrong usage.)";

void declare_serve(CLI::App& app, RawOptions& raw) {
  CLI::App* serve =
      app.add_subcommand("serve", "a service that knows your jobs, looks at them and keeps it");
  serve->footer(serve_help);
  add_value(serve, "--listen", raw.listen,
            "the socket for tools ($XDG_RUNTIME_DIR/mqbridge.socket)", "unix:PATH");
  serve->add_flag("--open", raw.open,
                  "and a page for your browser; of a service that runs: another link");
  add_value(serve, "--config", raw.config, "the jobs (~/.config/mqbridge/service.toml)", "FILE");
  add_value(serve, "--state", raw.state, "where looks are kept (~/.local/state/mqbridge/looks)",
            "DIR");
  serve->add_flag("--check", raw.check, "check the configuration, say what it means, and end");
}

void declare_jobs(CLI::App& app, RawOptions& raw) {
  CLI::App* jobs = app.add_subcommand("jobs", "the jobs that the service knows");
  jobs->footer(
      "Exit status: 0 printed; 1 no service answers; 2 wrong usage; 5 output not written.");
  add_value(jobs, "--service", raw.service, "its socket ($XDG_RUNTIME_DIR/mqbridge.socket)",
            "unix:PATH");
  jobs->option_defaults()->group("Printing");
  add_format_option(jobs, raw, {"text", "json"});
  add_value(jobs, "-o", raw.output, "a file, not stdout: it appears complete or not at all",
            "FILE");
  add_color_option(jobs, raw);
}

/// The heading of commands in a help text, whatever this version of CLI11 calls it: completion and
/// man pages read it.
void head_commands(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({}))
    command->group("Subcommands");
}

void declare_types(CLI::App& app, RawOptions& raw) {
  CLI::App* types =
      app.add_subcommand("types", "type carriers and packs for stripped MPI libraries");
  types->require_subcommand(1);
  CLI::App* make =
      types->add_subcommand("make", "make a carrier or pack from the MPI's development headers");
  make->footer(
      "FILE becomes a type carrier, a small shared object; where its name ends in .types, a pack.");
  add_value(make, "--mpi", raw.mpi,
            fmt::format("which MPI ({})", mpi_of_carriers().facts().provider), "NAME");
  add_value(make, "--cc", raw.compiler, "C compiler; a cross compiler for a foreign target (cc)",
            "CC");
  add_list(make, "--include", raw.include_directories, "where the MPI's headers are", "DIR");
  add_value(make, "--source", raw.source,
            "the MPI's own source, unpacked: for its unexpected messages, too", "DIR");
  add_value(make, "--library", raw.library, "for a pack: the MPI library that it is made for",
            "PATH");
  add_value(make, "-o", raw.output, "file to write", "FILE")->required();
  CLI::App* show = types->add_subcommand("show", "print what a carrier or pack holds");
  show->add_option("FILE", raw.types_file, "carrier or pack")->required()->type_name("");
  CLI::App* check = types->add_subcommand("check", "compare one with an installed MPI library");
  check->add_option("FILE", raw.types_file, "carrier or pack")->required()->type_name("");
  add_value(check, "--library", raw.library, "the MPI library (default: the installed libmpi)",
            "PATH");
  for (CLI::App* command : {make, show, check})
    command->add_flag("--no-sandbox", raw.no_sandbox,
                      "do not filter the system calls of what reads DWARF");
  head_commands(*types);
}

void declare_recorder(CLI::App& app, RawOptions& raw) {
  CLI::App* recorder =
      app.add_subcommand("recorder", "the library that `run --record-queues` preloads");
  recorder->require_subcommand(1);
  CLI::App* make = recorder->add_subcommand("make", "make the recorder of an MPI that has none");
  make->footer("It is compiled, checked with a small job, and kept for `run --record-queues`.");
  add_value(make, "--mpicc", raw.mpicc, "the MPI's own C compiler (mpicc)", "CC");
  add_value(make, "-o", raw.output, "write it there, and do not keep it", "FILE");
  head_commands(*recorder);
}

} // namespace

std::string_view help_topic(std::string_view word) {
  return word == "targets" ? target_help
         : word == "words" ? words_help
         : word == "tree"  ? tree_help
                           : std::string_view();
}

void declare_commands(CLI::App& app, RawOptions& raw, std::string_view version) {
  app.description(
      "MPI message queues of running jobs, through gdbserver and the MPI's own debug DLL");
  app.footer(
      "mqbridge COMMAND --help tells the options of a command; mqbridge help targets how a "
      "process\nis named, help words and help tree what stands in the text of dump and stacks.");
  app.set_version_flag("--version", "mqbridge " + std::string(version), "print the version");
  app.require_subcommand(1);
  declare_why(app, raw);
  declare_dump(app, raw);
  declare_analyze(app, raw);
  declare_show(app, raw);
  declare_stacks(app, raw);
  declare_vars(app, raw);
  declare_handles(app, raw);
  declare_ranks(app, raw);
  declare_run(app, raw);
  declare_doctor(app, raw);
  declare_gdb(app, raw);
  declare_proxy(app, raw);
  declare_serve(app, raw);
  declare_jobs(app, raw);
  declare_recorder(app, raw);
  declare_types(app, raw);
  app.add_subcommand("help", "of a command, or of targets, words or tree");
  head_commands(app);
}

} // namespace mqbridge
