#include "rsp/commands/read_outcomes.h"

#include "rsp/commands/read_plan.h"

namespace mqbridge::rsp {

void ReadOutcomes::note(ReadForm form, const MemoryPiece& piece, PieceBytes got) {
  const bool binary = form == ReadForm::binary || form == ReadForm::bare_binary;
  const bool doubtful = form == ReadForm::file || (binary && may_not_fit(piece.length, features_));
  unsettled_.push_back({piece.range, piece.address, piece.length, got, doubtful});
  if (!got || *got < piece.length)
    piece.range->fell_short();
}

void ReadOutcomes::settle() {
  for (const Outcome& outcome : unsettled_) {
    MemoryScan& scan = outcome.range->scan();
    // If a piece came short, the pieces that were read ahead behind it leave a gap.
    if (scan.address() != outcome.address)
      continue;
    if (outcome.got)
      scan.succeeded(outcome.asked, *outcome.got);
    else
      scan.failed(outcome.asked, outcome.doubtful);
  }
  progressed_ |= !unsettled_.empty();
  if (onlooker_.watcher != nullptr)
    tell();
  unsettled_.clear();
}

void ReadOutcomes::tell() {
  const JoinedRange* told = nullptr;
  for (const Outcome& outcome : unsettled_) {
    if (outcome.range != told)
      outcome.range->tell(onlooker_.first, *onlooker_.watcher);
    told = outcome.range;
  }
}

} // namespace mqbridge::rsp
