// Dump documents and lines of NDJSON, from whoever says that he is mqbridge, and documents of
// values that are filled with whatever their description allows. The first byte chooses. What is
// read is written, and read and written again, to the same bytes; and a document gets a verdict
// that does not contradict itself.

#include "host/analysis/analyze.h"
#include "host/analysis/join.h"
#include "host/document/document_reader.h"
#include "host/document/json_report.h"
#include "tests/document/filled_value.h"
#include "tests/fuzz/fuzz_input.h"

#include <algorithm>
#include <sstream>

namespace mqbridge {
namespace {

using test::require;

constexpr std::uint64_t most_bytes = std::uint64_t{32} << 20;
const JsonOptions options{.tool_version = "0", .raw = true};

template <class T>
void check(const Result<T>& result) {
  require(result || (result.error().code.starts_with("document.") &&
                     result.error().message.size() < 4096 && !result.error().hint.empty()));
}

std::string document_text(const Dump& dump) {
  std::string text;
  write_json(dump, options, [&](std::string_view piece) { text += piece; });
  return text;
}

/// The same document twice is two looks.
void verdict(const Dump& dump) {
  const auto joined = join_documents({{"one", dump}, {"other", dump}});
  require(joined || !joined.error().hint.empty());
  if (!joined)
    return;
  const auto analysis = analyze(*joined);
  const bool decided = analysis.verdict != Verdict::undecided;
  require(analysis.confidence.has_value() == decided);
  const auto in_core = [](const auto& job) { return !job.second.core.empty(); };
  const bool core = !analysis.core.empty() || std::ranges::any_of(analysis.by_job, in_core);
  require(core == (analysis.verdict == Verdict::deadlock));
}

void document(std::string_view text) {
  std::istringstream in{std::string(text)};
  const auto read = DocumentReader(most_bytes).document(in);
  check(read);
  if (!read)
    return;
  const auto first = document_text(read->dump);
  std::istringstream again_in(first);
  const auto again = DocumentReader(2 * most_bytes).document(again_in);
  require(again && document_text(again->dump) == first);
  verdict(read->dump);
}

void filled(test::FuzzInput input) {
  const Dump dump = test::filled_dump(input);
  const auto text = document_text(dump);
  std::istringstream in(text);
  const auto read = DocumentReader(most_bytes).document(in);
  require(read && document_text(read->dump) == text);
  verdict(dump);
}

/// What was read of a rank, now or earlier, as it is written. Empty: the line is no rank.
std::string line_text(const DocumentLine& line) {
  std::string text;
  const Sink sink = [&](std::string_view piece) { text += piece; };
  if (const auto* const rank = std::get_if<RankDump>(&line))
    write_ndjson_rank(*rank, options, sink);
  if (const auto* const earlier = std::get_if<EarlierLine>(&line))
    write_ndjson_earlier(earlier->rank, earlier->taken_at, options, sink);
  return text;
}

void lines(std::string_view text) {
  DocumentReader reader(most_bytes);
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto read = reader.line(line);
    check(read);
    const auto first = read ? line_text(*read) : std::string();
    if (first.empty())
      continue;
    const auto again = DocumentReader(2 * most_bytes).line(first);
    require(again && line_text(*again) == first);
  }
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  test::FuzzInput input(data, size);
  const auto kind = input.number(1);
  if (kind == 'd')
    document(input.rest());
  else if (kind == 'f')
    filled(input);
  else
    lines(input.rest());
  return 0;
}
