#pragma once

#include "host/process/given_image.h"
#include "rsp/commands/run_until.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

// The values of single options, from text. Errors: usage.value, naming the option.

/// Seconds, with a fraction: more than 0, at most 1,000,000. Rounded up to milliseconds.
Result<std::chrono::milliseconds> parse_seconds(std::string_view option, std::string_view text);

/// As timeout(1) takes them: seconds with a fraction, or "10m", "1.5h", "2d"; at most 1,000,000
/// days. 0: nullopt, no limit. Rounded up to milliseconds.
Result<std::optional<std::chrono::milliseconds>> parse_duration(std::string_view option,
                                                                std::string_view text);

/// A whole number in 64 bits.
Result<std::int64_t> parse_integer(std::string_view option, std::string_view text);

/// A whole number greater than 0.
Result<std::uint64_t> parse_count(std::string_view option, std::string_view text);
/// "4096", "512M": K, M and G are powers of 1024.
Result<std::uint64_t> parse_bytes(std::string_view option, std::string_view text);

/// A count, or "all": nullopt.
Result<std::optional<std::uint64_t>> parse_count_or_all(std::string_view option,
                                                        std::string_view text);

/// FILE[@BIAS], BIAS hexadecimal with 0x, or decimal. What follows the last @ and does not begin
/// with a digit belongs to the file's name.
Result<GivenImage> parse_image(std::string_view option, std::string_view text);

/// "signal" or "signal=NAME": SIGUSR1, USR1, or 30, the number that the remote protocol has for it.
Result<rsp::RunUntil> parse_run_until(std::string_view option, std::string_view text);

/// Directories, which must exist: in a misspelt one every file would seem to be missing.
Result<std::vector<std::filesystem::path>> parse_directories(std::string_view option,
                                                             const std::vector<std::string>& texts);

/// FROM=TO, both not empty.
Result<std::pair<std::string, std::string>> parse_path_map(std::string_view option,
                                                           std::string_view text);

} // namespace mqbridge
