#pragma once

#include "rsp/client/features.h"
#include "rsp/client/memory_file.h"
#include "rsp/commands/file_check.h"
#include "rsp/commands/memory_reply.h"
#include "rsp/commands/read_outcomes.h"
#include "rsp/commands/read_plan.h"
#include "rsp/commands/read_watcher.h"
#include "rsp/exchange/burst.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge::rsp {

/// How carefully a burst checks that each reply belongs to its request.
struct PairingChecks {
  /// Put a question with a known answer (rsp/exchange/step_marker.h) between the reads, wherever
  /// that costs no round trip.
  bool marked = false;
  /// Read one piece at a time, and few of them: after something has gone wrong.
  bool careful = false;
  /// Whether the connection has seen something that does not belong to this exchange.
  std::function<bool()> in_doubt;
};

/// Reads ranges piece by piece: ReadPlan decides what to ask for, and this class matches the
/// replies to it. The bytes go to their places as they come. They count as read (ReadOutcomes) only
/// when the next marker has its answer: up to there no reply was lost, and none came twice.
class MemoryBurst final : public Burst {
public:
  /// `ranges`, `features` and `file` outlive this.
  MemoryBurst(std::span<JoinedRange> ranges, const Features& features, MemoryFile& file,
              PairingChecks pairing, Onlooker onlooker = {});

  bool next(std::string& payload) override;
  /// Errors: those of read_memory() if they are certain(). Otherwise the error means that replies
  /// and requests do not seem to pair: the stub has to be brought back into step, and pieces that
  /// were not settled have to be asked again.
  Result<void> take(std::string_view reply) override;

  /// The error is what the stub really says: replies and requests did pair.
  bool certain() const { return certain_; }
  /// Whether any reply was settled.
  bool progressed() const { return outcomes_.progressed(); }
  /// The watcher wanted nothing, so nothing was asked for.
  bool held_back() const { return plan_.held_back(); }

private:
  /// A request on its way.
  struct Question {
    enum class Kind : std::uint8_t { read, marker, check };
    Kind kind = Kind::read; ///< check: what FileCheck asked
    ReadForm form = ReadForm::hex;
    std::size_t pieces = 0; ///< number of pieces that it asks for, from the front of pieces_
  };

  bool ask_marker(std::string& payload);
  bool ask_check(std::string& payload);
  bool ask_pieces(std::string& payload);
  Result<void> take_reply_to(const Question& question, std::string_view reply);
  Result<void> take_data(const Question& question, std::string_view reply);
  Result<void> settle();
  static Failure out_of_step(Error why);

  const Features& features_;
  MemoryFile& file_;
  PairingChecks pairing_;
  ReadWatcher* watcher_;
  ReadPlan plan_;
  ReadOutcomes outcomes_;
  FileCheck check_;
  std::size_t unmarked_ = 0; ///< requests since the last marker
  std::deque<Question> questions_;
  std::deque<MemoryPiece> pieces_;    ///< on their way
  std::vector<MemoryPiece> answered_; ///< the pieces of the reply being taken
  std::vector<PieceBytes> got_;       ///< the bytes that it brought
  std::optional<Error> anomaly_;      ///< of a careful read: the error, once the pairing is checked
  bool certain_ = false;
};

} // namespace mqbridge::rsp
