// The page of a report: the document is in it as a whole, and nothing of it is markup.

#include "host/report/html_report.h"
#include "host/report/packed_ranks.h"
#include "tests/document/rich_dump.h"
#include "tests/support/child_process.h"

#include <array>
#include <cstdint>
#include <gmock/gmock.h>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>
#include <zlib.h>

namespace mqbridge {
namespace {

using Json = PackedRanks::Json;
using testing::HasSubstr;
using testing::Not;

std::string page_of(const Dump& dump) {
  std::string page;
  write_html(dump, {.tool_version = "1.2.3"}, {}, [&](std::string_view text) { page += text; });
  return page;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto at = text.find(begin);
  EXPECT_NE(at, text.npos) << begin;
  const auto start = at + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

std::string decoded(const std::string& letters) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int known = 0;
  for (const char letter : letters) {
    if (letter == '=')
      break;
    bits = bits << 6 | static_cast<std::uint32_t>(alphabet.find(letter));
    known += 6;
    if (known >= 8)
      bytes += static_cast<char>(bits >> (known -= 8) & 0xff);
  }
  return bytes;
}

std::string decompressed(std::string bytes) {
  z_stream stream = {};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::array<char, 4096> piece{};
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(piece.data(), piece.size() - stream.avail_out);
  }
  EXPECT_EQ(status, Z_STREAM_END);
  inflateEnd(&stream);
  return text;
}

Json packed_in(const std::string& page) {
  return Json::parse(decompressed(decoded(between(page, "id=\"document\">", "<"))));
}

/// The ranks again, in their order.
std::vector<Json> unpacked(const Json& kinds) {
  std::map<std::size_t, Json> ranks;
  for (const Json& kind : kinds)
    for (std::size_t member = 0; member < kind["indices"].size(); ++member) {
      Json rank = kind["template"];
      for (const Json& column : kind["columns"]) {
        Json* at = &rank;
        for (const Json& key : column["path"])
          at = key.is_string() ? &(*at)[key.get<std::string>()] : &(*at)[key.get<std::size_t>()];
        *at = column["values"][member];
      }
      ranks.emplace(kind["indices"][member].get<std::size_t>(), std::move(rank));
    }
  std::vector<Json> all;
  for (auto& [index, rank] : ranks) {
    EXPECT_EQ(index, all.size());
    rank.erase("view");
    all.push_back(std::move(rank));
  }
  return all;
}

TEST(HtmlReport, HasTheWholeDocument) {
  const Dump dump = test::rich_dump();
  std::string text;
  write_json(dump, {.tool_version = "1.2.3"}, [&](std::string_view piece) { text += piece; });
  const Json document = Json::parse(text);
  const Json packed = packed_in(page_of(dump));
  Json again = packed["document"];
  again["ranks"] = unpacked(packed["kinds"]);
  for (std::size_t i = 0; i < packed["earlier"].size(); ++i)
    again["earlier"][i]["ranks"] = unpacked(packed["earlier"][i]);
  EXPECT_FALSE(document["ranks"].empty());
  EXPECT_EQ(nlohmann::json(again), nlohmann::json(document));
}

TEST(HtmlReport, NamesOfATargetAreNoMarkup) {
  Dump dump = test::rich_dump();
  const std::string name = "</script><script>alert(1)</script>";
  for (RankDump& rank : dump.ranks) {
    rank.host = name;
    for (Communicator& communicator : rank.communicators)
      communicator.name = name;
  }
  const std::string page = page_of(dump);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)")));
  const std::regex begin("<script");
  EXPECT_EQ(
      std::distance(std::sregex_iterator(page.begin(), page.end(), begin), std::sregex_iterator()),
      2); // the document, and what shows it
  EXPECT_EQ(packed_in(page)["kinds"][0]["template"]["host"], name);
}

std::string hash_of(const std::string& text) {
  test::ChildProcess process(
      {{"sh", "-c", "printf %s \"$1\" | openssl dgst -sha256 -binary | base64", "sh", text}});
  EXPECT_TRUE(process.wait(std::chrono::seconds(30)));
  const std::string hash = process.out();
  return hash.substr(0, hash.find('\n'));
}

TEST(HtmlReport, ItsPolicyAllowsItsOwnScriptAndStyleAlone) {
  const std::string page = page_of(Dump());
  const std::string policy =
      between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
  EXPECT_EQ(policy, "default-src 'none'; style-src 'sha256-" +
                        hash_of(between(page, "<style>", "</style>")) + "'; script-src 'sha256-" +
                        hash_of(between(page, "<script>", "</script>")) +
                        "'; base-uri 'none'; form-action 'none'");
}

TEST(PackedRanks, EqualOnesTakeLittleRoom) {
  const auto packed = [](int count) {
    PackedRanks ranks;
    for (int i = 0; i < count; ++i)
      ranks.add({{"rank", i}, {"name", "node"}, {"queues", {1, 2, std::string(500, 'x')}}});
    return std::move(ranks).json();
  };
  const Json kinds = packed(10'000);
  ASSERT_EQ(kinds.size(), 1);
  ASSERT_EQ(kinds[0]["columns"].size(), 1);
  EXPECT_EQ(kinds[0]["columns"][0]["path"], Json::array({"rank"}));
  EXPECT_LT(kinds.dump().size(), 200'000);
  EXPECT_EQ(packed(1)[0]["template"]["rank"], 0);
}

TEST(PackedRanks, OtherShapesAreOtherKinds) {
  PackedRanks ranks;
  ranks.add({{"a", 1}, {"list", {1, 2}}});
  ranks.add({{"a", 2}, {"list", {1}}});
  ranks.add({{"a", nullptr}, {"list", {1, "x"}}});
  ranks.add({{"list", {1}}, {"a", 2}});
  ranks.add({{"a", Json::object()}, {"list", Json::array()}});
  const Json kinds = std::move(ranks).json();
  ASSERT_EQ(kinds.size(), 4);
  EXPECT_EQ(kinds[0]["indices"], Json({0, 2}));
  EXPECT_EQ(unpacked(kinds)[2].dump(), R"({"a":null,"list":[1,"x"]})");
  EXPECT_EQ(unpacked(kinds)[4].dump(), R"({"a":{},"list":[]})");
}

} // namespace
} // namespace mqbridge
