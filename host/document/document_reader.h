#pragma once

#include "host/document/read_state.h"
#include "host/dump/values/document.h"
#include "rsp/result.h"

#include <cstdint>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace mqbridge {

/// A dump document, and the facts about the program that wrote it.
struct WrittenDump {
  std::string tool_version;
  Dump dump;
};

/// The first line of NDJSON: no ranks, no errors.
struct HeaderLine {
  std::string tool_version;
  Dump dump;
};
/// The last line: a `dump` with the facts about the job, and the errors.
struct SummaryLine {
  Dump dump;
  std::uint64_t ranks = 0; ///< the number of ranks that it states
};
/// A rank of an earlier look, without statistics.
struct EarlierLine {
  std::string taken_at; ///< of the look
  RankDump rank;
};
/// A line of a kind that only a later version has.
struct OtherLine {};
using DocumentLine = std::variant<HeaderLine, RankDump, EarlierLine, SummaryLine, OtherLine>;

/// Reads the output of json_report.h, wherever it comes from. A part that is damaged, missing or of
/// another type is an error that names it. Facts that the document does not have stay not known.
/// Members that this version does not know are passed over. A word that it does not know reads as
/// unknown if there is such a value, and is an error elsewhere. Raw values that the document lacks
/// are taken from the reported ones. The analysis is not read: it can be made again.
///
/// One reader keeps equal texts once. Readers with the same pool keep equal groups once. One
/// thread.
///
/// Errors: document.syntax (no JSON), document.schema (another program's, or a later version's),
/// document.field, document.limit.
class DocumentReader {
public:
  /// Everything that it reads may take about so many bytes of memory.
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
