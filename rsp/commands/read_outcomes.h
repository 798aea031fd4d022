#pragma once

#include "rsp/client/features.h"
#include "rsp/commands/memory_reply.h"
#include "rsp/commands/read_watcher.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mqbridge::rsp {

/// The results of a burst's pieces, kept until it is certain that their replies belong to them. No
/// I/O.
class ReadOutcomes {
public:
  /// `features` and `onlooker` outlive this.
  ReadOutcomes(const Features& features, Onlooker onlooker)
      : features_(features), onlooker_(onlooker) {}

  /// The reply to a request of this form brought `got` bytes of `piece`.
  void note(ReadForm form, const MemoryPiece& piece, PieceBytes got);
  /// All noted replies belong to their requests: the results count from here on, and the watcher is
  /// told.
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
