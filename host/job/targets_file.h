#pragma once

#include "host/dump/target/target_spec.h"
#include "host/job/job_search.h"
#include "rsp/result.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// The file of --targets and --save: a line for each rank, "RANK TARGET [key=value...]", as
// docs/reference/targets-file.md describes it.

/// Larger files and lines are not read: a million short lines fit.
inline constexpr std::size_t most_targets_bytes = std::size_t{64} << 20;
inline constexpr std::size_t most_target_line_bytes = std::size_t{64} << 10;
inline constexpr std::size_t most_targets = std::size_t{1} << 18;

/// Reads a targets file. Relative paths in keys become paths relative to the file's directory.
/// Errors: targets.open; those of parse_targets().
Result<std::vector<TargetSpec>> read_targets_file(const std::filesystem::path& path);

/// The same from the contents of the file `path`, which is not opened. At least one target, each
/// process once, each rank of a job once. Errors: targets.not_text, targets.too_large,
/// targets.empty; targets.syntax, which lists the faults of the whole file (at most twenty), each
/// with its line and column and what to write there.
Result<std::vector<TargetSpec>> parse_targets(std::string_view text,
                                              const std::filesystem::path& path);

/// The contents of a file from which parse_targets() reads these targets. Relative paths in keys
/// become absolute. `faults`: comments that say what was not looked at. Error: targets.unwritable
/// (a text that no line can hold).
Result<std::string> targets_text(std::span<const TargetSpec> targets,
                                 std::span<const FindTrouble> faults = {});

} // namespace mqbridge
