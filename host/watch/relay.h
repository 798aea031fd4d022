#pragma once

#include "host/disk/file_descriptor.h"
#include "rsp/result.h"

#include <cstddef>
#include <optional>
#include <poll.h>
#include <string>

namespace mqbridge {

/// One stream of output on its way through this process: each byte is passed on as soon as it
/// comes, in order, and none is changed. A slow reader slows the writer down, as without a relay; a
/// reader that stops ends the writer's stream (SIGPIPE). It never waits. One thread at a time.
class Relay {
public:
  /// `to`: not owned. Error: run.pipe.
  static Result<Relay> open(int to);

  /// The descriptor that becomes the writer's stream. To be closed here once it was handed over.
  int writers_end() const { return writing_.get(); }
  void close_writers_end() { writing_ = FileDescriptor(); }

  /// The descriptor and events to poll for; a negative descriptor: nothing more comes.
  pollfd wanted() const;
  /// After poll() of wanted(): takes bytes, or passes some on. Returns whether there were any.
  bool move(const pollfd& polled);

  /// Bytes were taken, and their reader has not got them yet.
  bool is_owing() const { return !rest_.empty(); }
  /// Takes the bytes that have been written so far, and none that are written later.
  void finish();

private:
  void take(std::size_t most);
  void give();

  FileDescriptor reading_;
  FileDescriptor writing_;
  int to_ = -1;
  std::string rest_; ///< bytes that were taken, and not passed on yet
};

} // namespace mqbridge
