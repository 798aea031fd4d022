#pragma once

#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mqbridge::rsp {

/// A file of the stub's own file system, of which the start is wanted.
struct FileStart {
  std::string path;
  std::size_t count = 0; ///< bytes at the most
  /// The kernel gives it a page at a time, in whole lines (/proc/PID/maps).
  bool by_pages = false;
};

/// What has come of it.
struct FileText {
  enum class State : std::uint8_t {
    read,
    missing, ///< there is no such file, or its process has ended
    denied,  ///< to the stub's user
    failed,
  };
  State state = State::failed;
  std::string text;
  bool whole = false; ///< `text` is all of it
};

/// Reads the starts of many files in few round trips: some three for every 512 files, and a few
/// more where files are long. Opens only what `files` names: a FIFO would block the stub for good.
/// In the order of `files`. Errors: vfile.unsupported, and those of the connection.
Result<std::vector<FileText>> read_file_starts(Client& client, std::span<const FileStart> files);

} // namespace mqbridge::rsp
