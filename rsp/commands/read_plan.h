#pragma once

#include "rsp/client/features.h"
#include "rsp/client/memory_file.h"
#include "rsp/commands/memory_reply.h"
#include "rsp/commands/read_watcher.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge::rsp {

/// The pieces that one request asks for, and its packet.
struct PlannedRead {
  ReadForm form = ReadForm::hex;
  std::vector<MemoryPiece> pieces; ///< one, except for ReadForm::many
};

/// Whether so many bytes, escaped and framed, may be longer than this stub's packet.
bool may_not_fit(std::size_t length, const Features& features);

/// Decides what a burst asks for next: range by range, in pieces as large as the stub takes, as far
/// as the watcher wants them. No I/O.
class ReadPlan {
public:
  /// All of them outlive this. `careful`: few requests, each for one piece, and nothing through the
  /// file.
  ReadPlan(std::span<JoinedRange> ranges, const Features& features, const MemoryFile& file,
           Onlooker onlooker, bool careful);

  /// nullopt: there is nothing to ask for now.
  std::optional<PlannedRead> next();
  /// The watcher wanted nothing, so nothing was ever asked for.
  bool held_back() const { return held_back_ && planned_ == 0; }

private:
  std::optional<MemoryPiece> next_piece(std::size_t longest);
  std::size_t wanted(const JoinedRange& range, std::size_t length);
  ReadForm form_for(const MemoryPiece& piece) const;
  void gather_more(std::vector<MemoryPiece>& pieces);

  std::span<JoinedRange> ranges_;
  const Features& features_;
  const MemoryFile& file_;
  Onlooker onlooker_;
  bool careful_;
  std::size_t next_range_ = 0;
  std::size_t planned_ = 0; ///< requests so far
  bool held_back_ = false;  ///< the watcher did not want the piece that came next
};

} // namespace mqbridge::rsp
