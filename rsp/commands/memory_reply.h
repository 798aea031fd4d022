#pragma once

#include "rsp/client/features.h"
#include "rsp/commands/joined_range.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Which packet asks for a piece of memory, and how its reply carries it.
enum class ReadForm : std::uint8_t {
  hex,         ///< `m`
  binary,      ///< GDB's `x`: `b` and the bytes
  bare_binary, ///< LLDB's `x`: the bytes
  many,        ///< LLDB's `MultiMemRead`: `LENGTH,LENGTH;` and the bytes of all pieces
  file,        ///< `vFile:pread` of /proc/PID/mem (MemoryFile makes the request)
};

/// Consecutive bytes that one request asks for, alone or among others.
struct MemoryPiece {
  JoinedRange* range;
  std::uint64_t address;
  std::size_t length;
  RangePlace place;
};

/// How many bytes of a piece the reply brought; nullopt: the piece was refused.
using PieceBytes = std::optional<std::size_t>;

/// Appends the packet that asks for `pieces`: one piece, except for ReadForm::many. Not for
/// ReadForm::file.
void append_request(std::string& payload, ReadForm form, std::span<const MemoryPiece> pieces);

/// Writes the memory in `reply` where it belongs, and tells in `got`, which has an entry for each
/// piece, how much there was. Errors: stub.garbage, memory.unsupported; `got` then means nothing.
Result<void> take_reply(ReadForm form, std::span<const MemoryPiece> pieces, std::string_view reply,
                        std::span<PieceBytes> got);

/// Whether the place of `piece` has these bytes already.
bool is_in_place(const MemoryPiece& piece, std::string_view bytes);

} // namespace mqbridge::rsp
