#pragma once

#include "rsp/client/memory_file.h"
#include "rsp/commands/memory_reply.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// The one piece of a burst that is read both ways, so that the memory file can be believed
/// (MemoryFile::begin_check): by a packet of its own, and right behind it from the file.
class FileCheck {
public:
  /// `file` outlives this.
  explicit FileCheck(MemoryFile& file) : file_(file) {}

  /// `piece` is asked for by another packet: takes it, where the file wants to be checked by it.
  void offer(const MemoryPiece& piece);
  /// Writes the question to the file. False: there is none now.
  bool ask(std::string& payload);
  /// The file's answer. `there`: what the other packet brought.
  void take(std::string_view reply, PieceBytes there);

private:
  MemoryFile& file_;
  std::optional<MemoryPiece> piece_;
  bool due_ = false;
};

} // namespace mqbridge::rsp
