#pragma once

#include "rsp/client/features.h"
#include "rsp/commands/memory_reply.h"
#include "rsp/commands/read_watcher.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mqbridge::rsp {

/// What became of the pieces of a burst, until it is certain that their replies were theirs. No
/// I/O.
class ReadOutcomes {
public:
  /// `features` and `onlooker` outlive this.
  ReadOutcomes(const Features& features, Onlooker onlooker)
      : features_(features), onlooker_(onlooker) {}

  /// The reply to a request in this form brought so much of `piece`.
  void note(ReadForm form, const MemoryPiece& piece, PieceBytes got);
  /// What was noted is what was asked for: it counts from here on, and the watcher is told.
  void settle();
  /// Whether anything was ever settled.
  bool progressed() const { return progressed_; }

private:
  struct Outcome {
    JoinedRange* range;
    std::uint64_t address;
    std::size_t asked;
    PieceBytes got;
    bool doubtful; ///< a refusal: perhaps not for a hole
  };
  void tell();

  const Features& features_;
  Onlooker onlooker_;
  std::vector<Outcome> unsettled_;
  bool progressed_ = false;
};

} // namespace mqbridge::rsp
