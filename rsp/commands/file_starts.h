#pragma once

#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace mqbridge::rsp {

/// A file of the stub's own file system whose first bytes are wanted.
struct FileStart {
  std::string path;
  std::size_t count = 0; ///< bytes at the most
  /// The kernel gives the file a page at a time, in whole lines (/proc/PID/maps).
  bool by_pages = false;
};

/// The result for one FileStart.
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

/// Takes the text of the file at `index` as soon as it has come. The order is any.
using TakeText = std::function<void(std::size_t index, FileText text)>;

/// Reads the starts of many files in few round trips: two, another one for every 400 files, and a
/// few more where files are long. Opens only what `files` names: a FIFO would block the stub for
/// good. Some hundred texts are in memory at once. Errors: vfile.unsupported, and those of the
/// connection; what was taken by then is right.
Result<void> read_file_starts(Client& client, std::span<const FileStart> files,
                              const TakeText& take);

} // namespace mqbridge::rsp
