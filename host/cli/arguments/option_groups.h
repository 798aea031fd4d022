#pragma once

#include "host/cli/arguments/raw_options.h"

#include <string>
#include <vector>

namespace mqbridge {

// Options that several commands have, group by group, as --help lists them.

/// The forms of a target: below the options of commands that take targets.
extern const char* const target_help;

/// A repeatable option that takes one value each time, and never the targets behind it.
CLI::Option* add_list(CLI::App* app, const std::string& name, std::vector<std::string>& values,
                      const std::string& help, const std::string& value_name);
CLI::Option* add_value(CLI::App* app, const std::string& name, std::string& value,
                       const std::string& help, const std::string& value_name);
void add_choice(CLI::App* app, const std::string& name, std::string& value, const std::string& help,
                const std::vector<std::string>& choices);
void add_format_option(CLI::App* app, RawOptions& raw, const std::vector<std::string>& words);
void add_color_option(CLI::App* app, RawOptions& raw);
void add_node_options(CLI::App* app, RawOptions& raw);
void add_job_options(CLI::App* app, RawOptions& raw);
void add_types_option(CLI::App* app, RawOptions& raw);
void add_dll_options(CLI::App* app, RawOptions& raw);
void add_file_options(CLI::App* app, RawOptions& raw);
void add_image_option(CLI::App* app, RawOptions& raw);
void add_patience_options(CLI::App* app, RawOptions& raw);
void add_waiting_options(CLI::App* app, RawOptions& raw);
void add_holding_options(CLI::App* app, RawOptions& raw);
void add_jobs_option(CLI::App* app, RawOptions& raw);
void add_collect_options(CLI::App* app, RawOptions& raw);
void add_rank_option(CLI::App* app, RawOptions& raw);
void add_threads_option(CLI::App* app, RawOptions& raw);
void add_python_option(CLI::App* app, RawOptions& raw);
void add_walking_options(CLI::App* app, RawOptions& raw);
void add_filter_options(CLI::App* app, RawOptions& raw);
void add_output_options(
    CLI::App* app, RawOptions& raw,
    const std::string& output = "a file, not stdout: it appears complete or not at all");
void add_queue_printing_options(CLI::App* app, RawOptions& raw);
void add_printing_options(CLI::App* app, RawOptions& raw, const std::vector<std::string>& words);
void add_redact_option(CLI::App* app, RawOptions& raw);
void add_fail_on_option(CLI::App* app, RawOptions& raw);
void add_verdict_options(CLI::App* app, RawOptions& raw);
void add_cache_option(CLI::App* app, RawOptions& raw);

} // namespace mqbridge
