#include "host/report/html_report.h"

#include "host/document/json_parts.h"
#include "host/document/json_writer.h"
#include "host/report/packed_ranks.h"
#include "host/report/page.h"
#include "host/report/page_view.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zlib.h>

namespace mqbridge {
namespace {

using Json = PackedRanks::Json;

/// Compresses text (gzip), and writes it in letters (base64).
class CompressedText {
public:
  explicit CompressedText(const Sink& sink) : sink_(sink) {
    constexpr int gzip_of_all = 15 + 16;
    constexpr int usual_memory = 8;
    ::deflateInit2(&stream_, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_of_all, usual_memory,
                   Z_DEFAULT_STRATEGY);
  }
  ~CompressedText() { ::deflateEnd(&stream_); }
  CompressedText(const CompressedText&) = delete;
  CompressedText& operator=(const CompressedText&) = delete;

  void add(std::string_view text) {
    constexpr std::size_t most = std::size_t{1} << 30; // zlib counts in 32 bits
    for (; text.size() > most; text.remove_prefix(most))
      compress(text.substr(0, most), Z_NO_FLUSH);
    compress(text, Z_NO_FLUSH);
  }
  void end() {
    compress({}, Z_FINISH);
    write_letters(true);
  }

private:
  void compress(std::string_view text, int flush) {
    // zlib does not change what it reads.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<uInt>(out_.size());
      ::deflate(&stream_, flush);
      waiting_.insert(waiting_.end(), out_.begin(), out_.end() - stream_.avail_out);
      write_letters(false);
    } while (stream_.avail_out == 0);
  }

  /// Three bytes are four letters; the last ones may be fewer.
  void write_letters(bool all) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t group = 3;
    constexpr unsigned mask = 0x3f;
    std::string letters;
    std::size_t at = 0;
    for (; waiting_.size() - at >= (all ? 1 : group); at += std::min(group, waiting_.size() - at)) {
      const std::size_t count = std::min(group, waiting_.size() - at);
      std::uint32_t bits = 0;
      for (std::size_t i = 0; i < group; ++i)
        bits = bits << 8 | (i < count ? waiting_[at + i] : 0U);
      for (std::size_t i = 0; i <= group; ++i)
        letters += i <= count ? alphabet[bits >> (6 * (group - i)) & mask] : '=';
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    sink_(letters);
  }

  const Sink& sink_;
  z_stream stream_ = {};
  std::array<std::uint8_t, 64 * 1024> out_ = {};
  std::vector<std::uint8_t> waiting_;
};

Json document_of(const RankDump& rank, RankMembers members) {
  std::string text;
  JsonWriter json([&](std::string_view piece) { text += piece; }, JsonWriter::Layout::one_line);
  json.begin_object();
  write_rank_members(json, rank, members);
  json.end();
  json.end_line();
  return Json::parse(text);
}

Json packed(const std::vector<RankDump>& ranks, const RankMembers& members,
            const std::function<void(const RankDump&, Json&)>& complete) {
  PackedRanks all;
  for (const RankDump& rank : ranks) {
    Json json = document_of(rank, members);
    complete(rank, json);
    all.add(std::move(json));
  }
  return std::move(all).json();
}

} // namespace

void write_html(const Dump& dump, const JsonOptions& json, const TextOptions& text,
                const Sink& sink) {
  constexpr std::uint64_t least_rows = 200; // a page has more room than a terminal
  TextOptions options = text;
  if (options.show)
    options.show = std::max(*options.show, least_rows);
  sink(page::before_document);
  CompressedText compressed(sink);
  compressed.add(R"({"packed":1,"view":)");
  const PageView view(dump, options);
  compressed.add(view.all().dump());
  compressed.add(R"(,"document":)");
  JsonOptions without_ranks = json;
  without_ranks.ranks = false;
  write_json(dump, without_ranks, [&](std::string_view piece) { compressed.add(piece); });
  compressed.add(R"(,"kinds":)");
  compressed.add(packed(dump.ranks, {.raw = json.raw}, [&](const RankDump& rank, Json& into) {
                   into["view"] = view.rank(rank);
                 }).dump());
  compressed.add(R"(,"earlier":[)");
  for (std::size_t i = 0; i < dump.earlier.size(); ++i) {
    compressed.add(i == 0 ? "" : ",");
    compressed.add(packed(dump.earlier[i].ranks, {.raw = json.raw, .statistics = false},
                          [](const RankDump&, Json&) {})
                       .dump());
  }
  compressed.add("]}");
  compressed.end();
  sink(page::after_document);
}

} // namespace mqbridge
