#pragma once

#include "host/collect/frames.h"
#include "host/document/document_reader.h"
#include "rsp/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The output of one collector, frame by frame. It takes no more memory than it may, whatever
/// comes; complete lines count.
class NodeStream {
public:
  using RankDone = std::function<void(RankDump&& rank)>;

  /// `version`: of this program. `most_bytes`: for everything that it keeps and hands over.
  /// `lists`: shared with the other nodes, whose groups are the same.
  NodeStream(std::string version, std::uint64_t most_bytes, std::shared_ptr<RankListPool> lists)
      : version_(std::move(version)), most_bytes_(most_bytes),
        reader_(most_bytes, std::move(lists)) {}

  /// One line, without its end.
  void take(std::string_view line, const RankDone& rank_done);

  /// The name by which the node calls itself; nullopt: it has not said so yet.
  const std::optional<std::string>& host() const { return host_; }
  /// Its summary has come, or it has sent something that makes no sense: nothing more is expected.
  bool is_over() const { return summary_.has_value() || broken_; }
  /// Its summary has come.
  bool is_complete() const { return summary_.has_value(); }
  std::uint64_t ranks() const { return ranks_; }
  /// The facts about the job, once the stream is complete.
  const Dump& job() const { return summary_->dump; }
  /// The faults in its output so far.
  const std::vector<RankError>& troubles() const { return troubles_; }
  /// Lines before the greeting: a login's noise, or the reason why there is no greeting. Bounded.
  const std::string& noise() const { return noise_; }

private:
  void take_frame(const Frame& frame, const RankDone& rank_done);
  void take_text(std::string_view text);
  void take_document_line(const RankDone& rank_done);
  void greet(const Frame& hello);
  void finish(SummaryLine summary);
  void say(const Error& error, RankError::Level level = RankError::Level::error);
  void break_off(const Error& error);

  std::string version_;
  std::uint64_t most_bytes_;
  DocumentReader reader_;
  std::optional<std::string> host_;
  std::string text_; ///< of the line of NDJSON that has begun
  std::uint64_t lines_ = 0;
  std::uint64_t ranks_ = 0;
  std::optional<SummaryLine> summary_;
  bool broken_ = false;
  std::vector<RankError> troubles_;
  std::string noise_;
};

} // namespace mqbridge
