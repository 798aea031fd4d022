#pragma once

#include "host/cli/arguments/commands.h"
#include "host/document/sink.h"
#include "rsp/result.h"

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace mqbridge {

/// The destination of results: stdout, or the file of -o.
///
/// A file is written beside its place, and renamed when it is complete: a reader sees the old
/// contents or all of the new, and a full disk leaves the old. If it cannot be renamed (the place
/// is a mount point), the contents are replaced; if that fails, the new file stays beside it, and
/// an error names it. A device, a FIFO and a descriptor of this process (/dev/fd/3) are written
/// directly. The first error is kept: later writes do nothing, so that a report needs no error
/// handling, and close() returns the error. One thread at a time.
///
/// Directly written output may be cut off by a signal that ends the process. It is then cut behind
/// a line, if lines are no longer than a pipe takes at once, and cut_off() tells.
class Output {
public:
  /// Opens it before any target is touched: a path that cannot be written must cost no stop. `path`
  /// empty or "-": stdout. Error: output.open, naming the path.
  static Result<Output> open(const std::string& path);
  static Output standard();
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output(); ///< without close(): an unfinished file is removed

  void write(std::string_view text);
  /// Writes the buffered output: for lines that somebody may be waiting for.
  void flush();
  Sink sink() {
    return [this](std::string_view text) { write(text); };
  }

  /// Finishes the file. Error: output.write (full disk, no reader, closed stdout).
  Result<void> close();

  /// The reader of a pipe has gone (`| head`): nothing to complain about.
  bool reader_gone() const;
  bool is_terminal() const;

  /// Removes the unfinished file, unless the target's contents are being replaced: then only the
  /// unfinished file has everything. Safe from another thread just before _exit().
  void discard() const noexcept;
  /// Whether some output was written directly, and close() was not called. Any thread.
  bool cut_off() const noexcept { return begun_.load(); }

private:
  Output(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  bool is_pipe() const;
  void write_out(std::string_view text);
  int replace();
  int overwrite();
  static Result<Output> open_file(const std::string& name);
  static Result<Output> open_temporary(const std::filesystem::path& target, const std::string& name,
                                       mode_t mode);

  int descriptor_;
  std::string name_; ///< as the user wrote it; "standard output"
  std::filesystem::path target_;
  std::filesystem::path temporary_; ///< empty: written directly
  std::string buffer_;
  std::atomic<bool> begun_ = false; ///< written to directly, and not finished
  int error_ = 0;                   ///< errno of the first write that failed
};

/// Whether to use colours for this output. automatic: on a terminal that has them, unless NO_COLOR
/// is set and not empty (no-color.org).
bool wants_color(When when, const Output& output);

/// The width of text: the terminal's columns, else 100.
std::size_t text_width(const Output& output);

} // namespace mqbridge
