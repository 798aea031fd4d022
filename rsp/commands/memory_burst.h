#pragma once

#include "rsp/client/features.h"
#include "rsp/client/memory_file.h"
#include "rsp/commands/memory_reply.h"
#include "rsp/commands/read_watcher.h"
#include "rsp/exchange/burst.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge::rsp {

/// How sure a burst makes that requests and replies pair.
struct PairingChecks {
  /// Whether a question with a known answer (rsp/exchange/step_marker.h) goes between the reads:
  /// wherever that costs no round trip.
  bool marked = false;
  /// One read at a time, and few of them: after something has gone wrong.
  bool careful = false;
  /// Whether the connection has seen something that does not belong to this exchange.
  std::function<bool()> in_doubt;
};

/// Who looks on while a burst goes on.
struct Onlooker {
  ReadWatcher* watcher = nullptr;     ///< null: nobody
  const ReadRequest* first = nullptr; ///< of the requests that it numbers
};

/// Reads ranges piece by piece. The bytes go to their places as they come; that they were read
/// counts only when the next marker has its answer: up to there nothing was lost, and nothing came
/// twice.
class MemoryBurst final : public Burst {
public:
  /// `ranges`, `features` and `file` outlive this.
  MemoryBurst(std::span<JoinedRange> ranges, const Features& features, MemoryFile& file,
              PairingChecks pairing, Onlooker onlooker = {});

  bool next(std::string& payload) override;
  /// Errors: as read_memory() has them, once they are certain(); else, that replies and requests do
  /// not seem to pair: the stub has to be brought back into step, and what was not settled to be
  /// asked again.
  Result<void> take(std::string_view reply) override;

  /// The error is what the stub really says: replies and requests did pair.
  bool certain() const { return certain_; }
  /// Whether any reply was settled.
  bool progressed() const { return progressed_; }
  /// Nothing was asked for, as the watcher did not want it.
  bool held_back() const { return held_back_ && asked_ == 0; }

private:
  /// A request on its way.
  struct Question {
    enum class Kind : std::uint8_t { read, marker, check };
    Kind kind = Kind::read; ///< check: the oldest piece to be checked, from the file
    ReadForm form = ReadForm::hex;
    std::size_t pieces = 0; ///< from the front of those on their way
  };
  /// What became of a piece, until it is certain.
  struct Outcome {
    JoinedRange* range;
    std::uint64_t address;
    std::size_t asked;
    PieceBytes got;
    bool doubtful; ///< a refusal: perhaps not for a hole
  };

  bool ask_marker(std::string& payload);
  bool ask_check(std::string& payload);
  bool ask_pieces(std::string& payload);
  std::optional<MemoryPiece> next_piece(std::size_t longest);
  std::size_t wanted(const JoinedRange& range, std::size_t length);
  ReadForm form_for(const MemoryPiece& piece) const;
  void gather_more(std::vector<MemoryPiece>& pieces);
  Result<void> take_reply_to(const Question& question, std::string_view reply);
  Result<void> take_data(const Question& question, std::string_view reply);
  void note(const Question& question, const MemoryPiece& piece, PieceBytes got);
  Result<void> settle();
  void tell();
  static Failure out_of_step(Error why);

  std::span<JoinedRange> ranges_;
  const Features* features_;
  MemoryFile* file_;
  PairingChecks pairing_;
  Onlooker onlooker_;
  std::size_t next_range_ = 0;
  std::size_t asked_ = 0;    ///< requests so far, without markers
  std::size_t unmarked_ = 0; ///< requests since the last marker
  std::deque<Question> questions_;
  std::optional<MemoryPiece> to_check_; ///< read both ways, for MemoryFile
  bool check_due_ = false;
  std::deque<MemoryPiece> pieces_;    ///< on their way
  std::vector<MemoryPiece> answered_; ///< those of the reply being taken
  std::vector<PieceBytes> got_;       ///< what it brought
  std::vector<Outcome> unsettled_;
  std::optional<Error> anomaly_; ///< in a careful read: an error, if the pairing is right
  bool held_back_ = false;       ///< the watcher did not want the piece that came next
  bool certain_ = false;
  bool progressed_ = false;
};

} // namespace mqbridge::rsp
