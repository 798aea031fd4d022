#pragma once

#include "host/disk/file_descriptor.h"
#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace mqbridge {

/// The most that is unpacked of a document, where it is not handed on as it is kept.
inline constexpr std::uint64_t most_unpacked = std::uint64_t{256} << 20;

/// Writes what `mqbridge show --format FORMAT` makes of a compressed document to `output`: by a
/// process of its own, as the document says what the job's memory said. Errors: service.no_look,
/// output.write, service.report, those of run_command.
/// `before`: an earlier look, with which it is compared (`mqbridge analyze --before`).
Result<void> write_shown(const std::string& program, FileDescriptor document,
                         std::optional<FileDescriptor> before, const std::string& format,
                         const std::filesystem::path& output, const std::stop_token& stop = {});

} // namespace mqbridge
