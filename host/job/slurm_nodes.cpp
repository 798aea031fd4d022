#include "host/job/slurm_nodes.h"

#include "host/disk/command_output.h"
#include "host/limits.h"
#include "rsp/limits.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <utility>

namespace mqbridge {

/// The first word tells our lines from Slurm's other output.
const std::string squeue_format = "mqbridge|%A|%i|%N|%T";

namespace {

constexpr std::string_view line_start = "mqbridge|";
/// Time that a program of Slurm may take: slurmctld gives up by itself after ten seconds.
constexpr std::chrono::seconds patience{15};
/// Components of a heterogeneous job, or lines of an array, that are read.
constexpr std::size_t most_lines = 1024;
/// Bytes of output: enough for the names of the largest systems' nodes, or the steps of a cluster.
constexpr std::size_t most_said = std::size_t{16} << 20;

bool consists_of(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || also.find(c) != std::string_view::npos;
  });
}

/// Whether the text is a list of names as Slurm abbreviates it, and nothing that could be an
/// option.
bool is_node_list(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-[],").find(c) != std::string_view::npos;
  });
}

template <class Take>
void for_each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    take(line);
  }
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto bar = line.find('|');
    fields.push_back(line.substr(0, bar));
    if (bar == line.npos)
      return fields;
    line.remove_prefix(bar + 1);
  }
}

/// The value behind `name` ("NAME=") in a line of "NAME=VALUE NAME=VALUE"; empty: it is not there.
std::string_view value_in(std::string_view line, std::string_view name) {
  for (auto at = line.find(name); at != line.npos; at = line.find(name, at + 1))
    if (at == 0 || line[at - 1] == ' ') {
      const auto value = line.substr(at + name.size());
      return value.substr(0, value.find(' '));
    }
  return {};
}

/// The output of a program of Slurm. If it fails, the error repeats its words.
Result<std::string> ask(const std::vector<std::string>& command) {
  const auto output = run_command(command, patience, most_said);
  if (!output)
    return Failure(output.error());
  if (output->exit_status != 0) {
    const auto words = output->text.substr(0, output->text.find('\n'));
    return fail("slurm.query",
                fmt::format("{} failed (exit {}): {}", command.front(), output->exit_status,
                            printable(words.substr(0, limits::host_name))),
                "try it yourself: squeue --me");
  }
  if (output->truncated)
    return fail("slurm.query",
                fmt::format("{} says more than {} MiB", command.front(), most_said >> 20),
                "name the nodes yourself: --node HOST (each)");
  return output->text;
}

Result<std::vector<std::string>> expand(const std::string& list) {
  if (!is_node_list(list))
    return fail("slurm.nodes",
                fmt::format("squeue names the nodes '{}', which is no list of names",
                            printable(list.substr(0, limits::host_name))),
                "name them yourself: --node HOST (each)");
  const auto output = ask({"scontrol", "show", "hostnames", list});
  if (!output)
    return Failure(output.error());
  std::vector<std::string> names;
  for_each_line(*output, [&](std::string_view line) {
    if (!line.empty() && !line.starts_with("scontrol: ")) // a warning
      names.emplace_back(line);
  });
  if (names.size() > limits::slurm_nodes)
    return fail("slurm.nodes",
                fmt::format("the job has {} nodes, which is more than {}", names.size(),
                            limits::slurm_nodes),
                "name some of them: --node HOST (each)");
  return names;
}

Result<std::vector<SlurmJobLine>> ask_for_job(const SlurmStep& step) {
  const auto output =
      ask({"squeue", "--noheader", "--jobs=" + step.job, "--format=" + squeue_format});
  if (!output)
    return Failure(output.error());
  auto lines = parse_squeue(*output);
  if (lines.size() == most_lines)
    return fail(
        "slurm.query",
        fmt::format("job {} has {} parts or more, which are not all listed", step.job, most_lines),
        "name one of its tasks: --slurm JOB_TASK");
  const auto running = std::ranges::find(lines, "RUNNING", &SlurmJobLine::state);
  if (running == lines.end())
    return fail("slurm.not_running",
                lines.empty()
                    ? fmt::format("Slurm knows no job {}: it has ended", step.job)
                    : fmt::format("job {} is not running: {}", step.job,
                                  printable(lines.front().state.substr(0, limits::host_name))),
                "to see what runs: squeue --me --states=running");
  std::erase_if(lines, [](const SlurmJobLine& line) { return line.state != "RUNNING"; });
  return lines;
}

std::optional<SlurmStep> step_among(std::int64_t srun, const std::vector<std::string>& question) {
  const auto output = ask(question);
  if (!output)
    return std::nullopt;
  for (auto& step : parse_steps(*output))
    if (step.srun == srun && is_this_host(step.host))
      return std::move(step.step);
  return std::nullopt;
}

} // namespace

std::vector<SlurmJobLine> parse_squeue(std::string_view output) {
  std::vector<SlurmJobLine> lines;
  for_each_line(output, [&](std::string_view line) {
    if (!line.starts_with(line_start) || lines.size() == most_lines)
      return;
    const auto fields = fields_of(line.substr(line_start.size()));
    if (fields.size() != 4 || !consists_of(fields[0], "") || !consists_of(fields[1], "_+[]-,%"))
      return;
    lines.push_back({std::string(fields[0]), std::string(fields[1]), std::string(fields[2]),
                     std::string(fields[3])});
  });
  return lines;
}

std::vector<SlurmStepLine> parse_steps(std::string_view output) {
  std::vector<SlurmStepLine> steps;
  for_each_line(output, [&](std::string_view line) {
    const auto id = value_in(line, "StepId=");
    const auto srun = value_in(line, "SrunHost:Pid=");
    const auto dot = id.find('.');
    const auto colon = srun.rfind(':');
    if (dot == id.npos || colon == srun.npos)
      return;
    const auto job = id.substr(0, id.find('+'));
    SlurmStepLine step{{std::string(job.substr(0, dot)), std::string(id.substr(dot + 1))},
                       std::string(srun.substr(0, colon)),
                       0};
    const auto number = srun.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), step.srun);
    if (error == std::errc{} && end == number.data() + number.size() &&
        consists_of(step.step.job, "") && consists_of(*step.step.step, ""))
      steps.push_back(std::move(step));
  });
  return steps;
}

std::optional<SlurmStep> job_around(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  std::string text(rsp::limits::environment_of_another, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto job = parse_environment(text).slurm_job;
  return job && consists_of(*job, "") ? std::optional(SlurmStep{std::move(*job), std::nullopt})
                                      : std::nullopt;
}

std::optional<SlurmStep> step_of_srun(std::int64_t srun) {
  std::optional<SlurmStep> found;
  if (const auto around = job_around(srun))
    found = step_among(srun, {"scontrol", "--oneliner", "show", "steps", around->job});
  return found ? found : step_among(srun, {"scontrol", "--oneliner", "show", "steps"});
}

bool says_node(const LaunchEnvironment& environment, const Node& node, bool named_by_slurm) {
  if (node.launcher == Launcher::ssh && !named_by_slurm)
    return true;
  const char* const own = std::getenv("SLURMD_NODENAME");
  const std::string name = node.launcher != Launcher::local ? node.host : own ? own : "";
  return name.empty() || environment.slurm_node.value_or(name) == name;
}

std::optional<SlurmStep> parse_slurm_step(std::string_view text) {
  const auto is_number = [](std::string_view digits) { return consists_of(digits, ""); };
  const auto dot = text.find('.');
  const auto job = text.substr(0, dot);
  const auto first = job.find_first_of("_+");
  const bool is_job = is_number(job.substr(0, first)) &&
                      (first == std::string_view::npos || is_number(job.substr(first + 1)));
  if (!is_job)
    return std::nullopt;
  if (dot == std::string_view::npos)
    return SlurmStep{std::string(job), std::nullopt};
  const auto step = text.substr(dot + 1);
  if (!is_number(step) && step != "batch" && step != "interactive")
    return std::nullopt;
  return SlurmStep{std::string(job), std::string(step)};
}

Result<SlurmNodes> find_slurm_nodes(const SlurmStep& step, Launcher launcher) {
  const auto lines = ask_for_job(step);
  if (!lines)
    return Failure(lines.error());
  SlurmNodes found;
  for (const auto& line : *lines) {
    found.is_array = lines->size() > 1 && line.name.find('+') == std::string::npos;
    const auto names = expand(line.nodes);
    if (!names)
      return Failure(names.error());
    found.numbers.insert(line.number);
    const auto plus = line.name.find('+');
    if (plus != std::string::npos) // all processes say the number of the job's first component
      found.numbers.insert(line.name.substr(0, plus));
    const auto& number = plus != std::string::npos ? line.name : line.number;
    const auto job = launcher == Launcher::srun ? number : std::string();
    for (const auto& name : *names) {
      auto node = node_named(name, launcher, job);
      if (!node)
        return forward(std::move(node));
      if (std::ranges::find(found.nodes, *node) == found.nodes.end())
        found.nodes.push_back(std::move(*node));
    }
  }
  return found;
}

} // namespace mqbridge
