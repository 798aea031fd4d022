#pragma once

#include "host/confined/confine.h"
#include "host/confined/filter.h"
#include "host/confined/messages.h"
#include "host/confined/parent_channel.h"

#include <optional>
#include <string>

namespace mqbridge::sandbox {

/// The beginning of a ConfinedProcess that reads foreign files by descriptors of its parent. It
/// dies with its parent, however busy it is, names the system call that its filter refuses, and is
/// confined to `limits`. Its filter is in force once begin() has returned; until then it does not
/// look at the files.
class FileReader {
public:
  FileReader(const Limits& limits, Rules rules);

  ParentChannel& channel() { return channel_; }

  /// Sends the answer to the parent's start message, which said whether system calls are to be
  /// filtered. A process that cannot confine itself says why, and ends.
  template <class Kind>
  void begin(bool sandboxed, Kind ready, Kind no_sandbox) {
    const auto refused = sandboxed ? filter_.apply() : std::nullopt;
    wire::Encoder answer;
    if (refused)
      answer.put(no_sandbox).text(*refused);
    else
      answer.put(ready);
    channel_.send(answer);
    if (refused)
      leave();
  }

private:
  Filter filter_;
  ParentChannel channel_;
};

} // namespace mqbridge::sandbox
