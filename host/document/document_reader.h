#pragma once

#include "host/document/read_state.h"
#include "host/dump/document.h"
#include "rsp/result.h"

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace mqbridge {

/// A dump document with what it says of the program that wrote it.
struct WrittenDump {
  std::string tool_version;
  Dump dump;
};

/// The first line of NDJSON: no ranks, no errors.
struct HeaderLine {
  std::string tool_version;
  Dump dump;
};
/// The last one: of `dump`, what describes the job, and the errors.
struct SummaryLine {
  Dump dump;
  std::uint64_t ranks = 0; ///< that it says there are
};
/// A rank of an earlier look, without statistics.
struct EarlierLine {
  std::string taken_at; ///< of the look
  RankDump rank;
};
/// A later version may have more kinds of them.
struct OtherLine {};
using DocumentLine = std::variant<HeaderLine, RankDump, EarlierLine, SummaryLine, OtherLine>;

/// Reads what json_report.h writes, wherever it comes from: a part that is damaged, missing or of
/// another type is an error that names it. What the document does not know stays not known. Members
/// that this version does not know are passed over; a word that it does not know reads as unknown,
/// where there is such a value, and is an error elsewhere. Raw values that the document lacks are
/// those that were reported. An analysis is not read: it can be made again of what was.
///
/// Equal texts of all that one reader has read are one, and so are equal groups of all readers that
/// have the same pool. One thread.
///
/// Errors: document.syntax (no JSON), document.schema (another program's, or a later version's),
/// document.field, document.limit.
class DocumentReader {
public:
  /// All that it reads takes no more memory than so many bytes, about.
  explicit DocumentReader(std::uint64_t most_bytes,
                          std::shared_ptr<RankListPool> lists = std::make_shared<RankListPool>())
      : state_(most_bytes, std::move(lists)) {}

  /// A whole document, rank by rank.
  Result<WrittenDump> document(std::istream& text);
  /// One line of NDJSON. The reader goes on after an error.
  Result<DocumentLine> line(std::string_view text);

private:
  ReadState state_;
};

} // namespace mqbridge
