#pragma once

#include "host/document/sink.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace mqbridge {

// The output of a collector: the lines of NDJSON, in frames. A frame is a line of at most
// `longest_frame` bytes: srun mixes the lines of its tasks, and cuts those of more than 1 KiB. Its
// first byte tells its kind:
//
//   #mqbridge 1 HOST VERSION   the first one: who speaks. Lines before it are a login's noise
//   +TEXT                      a piece of a line of NDJSON, more of which follows
//   .TEXT                      its last piece
//   -                          nothing new: the collector is alive

inline constexpr std::size_t longest_frame = 1000;

/// The collector's side. Thread-safe.
class FrameWriter {
public:
  /// `sink` takes whole frames, each with its line end.
  explicit FrameWriter(Sink sink) : sink_(std::move(sink)) {}

  void hello(std::string_view host, std::string_view version);
  void alive();
  /// NDJSON, in pieces that end anywhere.
  void write(std::string_view text);

private:
  void send(char kind, std::string_view text);

  std::mutex mutex_;
  Sink sink_;
  std::string piece_; ///< not sent yet: the line may end with it
};

struct Frame {
  enum class Kind : std::uint8_t { hello, piece, last_piece, alive };

  Kind kind = Kind::alive;
  std::string_view text = {};    ///< of a piece
  std::string_view host = {};    ///< of a hello
  std::string_view version = {}; ///< of a hello
};

/// Whether a line is meant as the first frame, of any version.
bool is_greeting(std::string_view line);

/// One frame, without its line end; the parts view `line`. Error: collector.protocol.
Result<Frame> parse_frame(std::string_view line);

/// Makes lines of bytes as they come. A line that is much too long is cut, and its rest is skipped.
class LineSplitter {
public:
  /// Calls `use(line)` for each line that is complete, without its end.
  template <class Use>
  void add(std::string_view bytes, Use use) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      keep(bytes.substr(0, end));
      if (end == std::string_view::npos)
        return;
      bytes.remove_prefix(end + 1);
      use(std::string_view(line_));
      line_.clear();
    }
  }

private:
  void keep(std::string_view bytes);

  std::string line_;
};

} // namespace mqbridge
