#include "host/cli/arguments/parse_dump.h"

#include "host/cli/arguments/config.h"
#include "host/cli/arguments/option_values.h"
#include "host/cli/arguments/parse_job.h"
#include "host/cli/arguments/parse_verdict.h"
#include "host/document/names.h"
#include "host/dump/values/ranges.h"
#include "host/report/queue_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

/// An option that was not given leaves its default.
Result<void> set_seconds(std::string_view option, const std::string& text, auto& value) {
  if (text.empty())
    return {};
  auto seconds = parse_seconds(option, text);
  if (!seconds)
    return forward(std::move(seconds));
  value = *seconds;
  return {};
}

Result<void> set_files(const RawOptions& raw, DumpOptions& options) {
  auto sysroots = parse_directories("--sysroot", raw.sysroots);
  if (!sysroots)
    return forward(std::move(sysroots));
  options.paths.sysroots = std::move(*sysroots);
  auto debug_dirs = parse_directories("--debug-dir", raw.debug_dirs);
  if (!debug_dirs)
    return forward(std::move(debug_dirs));
  options.paths.debug_dirs = std::move(*debug_dirs);
  options.types_files.assign(raw.types.begin(), raw.types.end());
  for (const std::string& text : raw.path_maps) {
    auto map = parse_path_map("--path-map", text);
    if (!map)
      return forward(std::move(map));
    options.paths.path_map.push_back(std::move(*map));
  }
  for (const std::string& text : raw.images) {
    auto image = parse_image("--image", text);
    if (!image)
      return forward(std::move(image));
    options.images.push_back(std::move(*image));
  }
  options.fetch.mode = raw.fetch_files;
  return {};
}

Result<void> set_dll(const RawOptions& raw, DumpOptions& options) {
  options.dll.path_map = options.paths.path_map;
  if (!raw.dll.empty())
    options.dll.given = raw.dll;
  if (raw.config.empty())
    return {};
  auto config = read_config(raw.config);
  if (!config)
    return forward(std::move(config));
  options.dll.configured = std::move(config->dlls);
  options.dll.allowed_directories = std::move(config->allowed_directories);
  return {};
}

Result<void> take(Filter filter, const std::string& word, std::vector<OpClass>& queues) {
  const auto* const queue = std::ranges::find_if(
      op_classes, [&](OpClass one) { return word == name_of(one) || word == short_name(one); });
  if (queue == op_classes.end())
    return fail("usage.value", fmt::format("--{} {}: there is no such queue", filter.name, word),
                "one of send, recv, unexp");
  queues.push_back(*queue);
  return {};
}

Result<void> take(Filter, const std::string& name, std::vector<std::string>& names) {
  names.push_back(name);
  return {};
}

Result<void> take(Filter filter, const std::string& text, std::vector<std::int64_t>& numbers) {
  if (filter.of == FilterOf::ranks) {
    auto ranks = parse_ranges(text);
    if (!ranks)
      return forward(std::move(ranks));
    numbers.insert(numbers.end(), ranks->begin(), ranks->end());
    return {};
  }
  auto number = parse_integer(fmt::format("--{}", filter.name), text);
  if (!number)
    return forward(std::move(number));
  numbers.push_back(*number);
  return {};
}

Result<Filters> parse_filters(const RawOptions& raw) {
  Filters filters;
  Result<void> taken;
  each_queue_filter(
      [&](Filter filter, auto& values) {
        if (const auto given = raw.filters.find(filter.name); given != raw.filters.end())
          for (const std::string& text : given->second)
            if (taken)
              taken = take(filter, text, values);
      },
      filters);
  if (!taken)
    return forward(std::move(taken));
  std::ranges::sort(filters.queues); // as reports list them
  filters.queues.erase(std::ranges::unique(filters.queues).begin(), filters.queues.end());
  return filters;
}

Result<void> set_limits(const RawOptions& raw, DumpCommand& command) {
  command.options.consistent = raw.consistent;
  if (raw.consistent && !raw.run_until.empty())
    return fail("usage", "--consistent and --run-until exclude each other",
                "dump what its stub has started by itself");
  if (raw.consistent) // one that hangs must not hold all others
    command.options.max_stop = std::chrono::seconds(10);
  if (auto set = set_seconds("--max-stop", raw.max_stop, command.options.max_stop); !set)
    return set;
  if (!raw.max_operations.empty()) {
    auto count = parse_count("--max-operations", raw.max_operations);
    if (!count)
      return forward(std::move(count));
    command.options.max_operations = *count;
  }
  if (!raw.max_bytes.empty()) {
    auto bytes = parse_bytes("--max-bytes", raw.max_bytes);
    if (!bytes)
      return forward(std::move(bytes));
    command.options.max_bytes = *bytes;
  }
  if (auto set = set_seconds("--max-walk", raw.max_walk, command.options.max_walk); !set)
    return set;
  if (!raw.jobs.empty()) {
    auto count = parse_count("--jobs", raw.jobs);
    if (!count)
      return forward(std::move(count));
    command.options.jobs = *count;
  }
  if (!raw.show.empty()) {
    auto show = parse_count_or_all("--show", raw.show);
    if (!show)
      return forward(std::move(show));
    command.show = *show;
  }
  return {};
}

} // namespace

Result<DumpOptions> common_options(const RawOptions& raw, std::string_view stub_silence) {
  DumpOptions options;
  if (auto set = set_files(raw, options); !set)
    return forward(std::move(set));
  if (auto set = set_dll(raw, options); !set)
    return forward(std::move(set));
  if (auto set = set_seconds("--connect-timeout", raw.connect_timeout, options.connect_timeout);
      !set)
    return forward(std::move(set));
  if (auto set = set_seconds(stub_silence, raw.timeout, options.silence_timeout); !set)
    return forward(std::move(set));
  auto launch = parse_launch(raw);
  if (!launch)
    return forward(std::move(launch));
  options.launch = std::move(*launch);
  options.launch.connect_timeout = options.connect_timeout;
  options.cache = raw.cache;
  options.sandbox = !raw.no_sandbox;
  if (!raw.run_until.empty()) {
    auto until = parse_run_until("--run-until", raw.run_until);
    if (!until)
      return forward(std::move(until));
    options.run_until = *until;
  }
  return options;
}

Result<DumpCommand> parse_look(const RawOptions& raw, bool queues, std::string_view stub_silence) {
  auto options = common_options(raw, stub_silence);
  if (!options)
    return forward(std::move(options));
  auto filters = parse_filters(raw);
  if (!filters)
    return forward(std::move(filters));
  if (raw.redact && raw.format == Format::collect)
    return fail("usage", "--redact is for the program that collects, and --format collect for it",
                "mqbridge dump --collect --redact ...");
  auto verdict = parse_verdict(raw);
  if (!verdict)
    return forward(std::move(verdict));
  DumpCommand command;
  command.verdict = *verdict;
  command.options = std::move(*options);
  command.options.filters = std::move(*filters);
  command.options.filters.no_queues = !queues;
  command.options.queues = queues;
  command.options.stacks = !raw.no_stacks;
  command.options.python = !raw.no_python;
  if (auto set = set_limits(raw, command); !set)
    return forward(std::move(set));
  command.format = raw.format;
  command.output = raw.output;
  command.summary = raw.summary;
  command.full = raw.full;
  command.raw = raw.raw;
  command.stats = raw.stats;
  command.all_threads = raw.all_threads;
  command.redact = raw.redact;
  command.color = raw.color;
  command.progress = raw.progress;
  command.trace = raw.trace;
  return command;
}

Result<Command> show_command(const RawOptions& raw) {
  auto look = parse_look(raw, true);
  if (!look)
    return forward(std::move(look));
  return Command(ShowCommand{raw.documents.front(), std::move(*look)});
}

} // namespace mqbridge
