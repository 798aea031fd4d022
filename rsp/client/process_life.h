#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Whether the process that a client holds is still there. No stub says so by itself: the gdbserver
/// of a process that was killed answers each read with an error, as it does where nothing is
/// mapped, and `D` with OK. But a byte that could be read once can be read for as long as the
/// process stands still: a read that fails is believed only if that byte can be read behind it.
class ProcessLife {
public:
  /// The byte there was read, and the process has not run since.
  void could_read(std::uint64_t address);
  /// The request for that byte. Empty: nothing was read yet.
  std::string question() const;
  /// Takes the answer to question(). An answer that is neither bytes nor an error tells nothing.
  void take(std::string_view answer);
  /// Something else has shown that the process has ended.
  void end() { ended_ = true; }
  bool ended() const { return ended_; }
  /// The process runs from here on: what could be read counts no more.
  void forget() { readable_.reset(); }

private:
  std::optional<std::uint64_t> readable_;
  bool ended_ = false;
};

} // namespace mqbridge::rsp
