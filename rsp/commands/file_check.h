#pragma once

#include "rsp/client/memory_file.h"
#include "rsp/commands/memory_reply.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// One piece of a burst is read both ways, so that the memory file can be believed
/// (MemoryFile::begin_check): by a packet of its own, and right behind it from the file. This keeps
/// track of that piece.
class FileCheck {
public:
  /// `file` outlives this.
  explicit FileCheck(MemoryFile& file) : file_(file) {}

  /// `piece` is about to be asked for by another packet: remembers it, if the file still needs a
  /// check.
  void offer(const MemoryPiece& piece);
  /// Writes the request to the file. False: none is due.
  bool ask(std::string& payload);
  /// Takes the file's answer. `there`: the bytes that the other packet brought.
  void take(std::string_view reply, PieceBytes there);

private:
  MemoryFile& file_;
  std::optional<MemoryPiece> piece_;
  bool due_ = false;
};

} // namespace mqbridge::rsp
