#include "host/cli/arguments/parse_run.h"

#include "host/cli/arguments/option_values.h"
#include "host/cli/arguments/parse_dump.h"
#include "host/cli/arguments/parse_job.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

using Limit = std::optional<std::chrono::milliseconds>;

Result<Limit> limit_of(std::string_view option, const std::string& text) {
  return text.empty() ? Result<Limit>(Limit()) : parse_duration(option, text);
}

Result<DumpCommand> look_of(const RawOptions& raw) {
  RawOptions look = raw;
  look.timeout = raw.stub_timeout;
  look.analyze = true;
  auto command = parse_look(look, true, "--stub-timeout");
  auto request = parse_request(raw);
  if (!request)
    return forward(std::move(request));
  if (command)
    command->targets.job = std::move(*request);
  return command;
}

} // namespace

RunWords split_run(std::span<const char* const> arguments) {
  const auto end = std::ranges::find(arguments, std::string_view("--"),
                                     [](const char* word) { return std::string_view(word); });
  RunWords words{{arguments.begin(), end}, {}};
  if (end != arguments.end())
    words.command.assign(end + 1, arguments.end());
  return words;
}

Result<Command> run_command(const RawOptions& raw, std::vector<std::string> command) {
  if (command.empty())
    return fail("usage", "mqbridge run: there is no command behind --",
                "mqbridge run --timeout 10m -- mpirun -np 4 ./solver");
  auto look = look_of(raw);
  if (!look)
    return forward(std::move(look));
  RunCommand run;
  run.argv = std::move(command);
  run.look = std::move(*look);
  run.report = raw.report;
  const auto total = limit_of("--timeout", raw.timeout);
  const auto silence = limit_of("--silent", raw.silent);
  const auto grace = limit_of("--kill-after", raw.kill_after);
  for (const auto* limit : {&total, &silence, &grace})
    if (!*limit)
      return Failure(limit->error());
  if (raw.timeout.empty() && raw.silent.empty())
    return fail("usage", "mqbridge run: neither --timeout nor --silent says how long is too long",
                "mqbridge run --timeout 10m -- ...; 0 is no limit");
  run.limits = {*total, *silence};
  if (!raw.recorder.empty() && !raw.record_queues)
    return fail("usage", "--recorder names a recorder for --record-queues, which is not there",
                "mqbridge run --record-queues --recorder PATH ...");
  run.record_queues = raw.record_queues;
  if (!raw.kill_after.empty())
    run.kill_after = grace->value_or(std::chrono::milliseconds(0));
  return Command(std::move(run));
}

} // namespace mqbridge
