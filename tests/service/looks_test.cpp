// A look's document on the disk, and its summary.

#include "host/service/document_lines.h"
#include "host/service/look_store.h"
#include "host/service/look_summary.h"
#include "tests/service/played_program.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace std::chrono_literals;

const std::string document = test::header_line + "\n" + test::rank_line(1, 101) + "\n" +
                             test::rank_line(0, 100) + "\n" + test::summary_line(test::deadlock) +
                             "\n";

DocumentLines lines_of(std::string_view text) {
  DocumentLines lines;
  lines.add(text);
  return lines;
}

json summary(std::string_view text, const std::string& id = "20261130T095821.333Z") {
  return summary_of({.id = id, .job = "weather", .taken_at = "2026-11-30T09:58:21.333Z"},
                    lines_of(text));
}

TEST(DocumentLines, AreTheSameHoweverTheyCome) {
  const DocumentLines whole = lines_of(document);
  EXPECT_EQ(whole.ranks(), 2U);
  EXPECT_EQ(whole.first(), test::header_line);
  EXPECT_EQ(whole.last(), test::summary_line(test::deadlock));
  DocumentLines pieces;
  for (const char sign : document)
    pieces.add({&sign, 1});
  EXPECT_EQ(pieces.ranks(), 2U);
  EXPECT_EQ(pieces.first(), whole.first());
  EXPECT_EQ(pieces.last(), whole.last());
  EXPECT_EQ(pieces.processes(), whole.processes());
}

TEST(DocumentLines, ProcessesAreToldApartAndComeInAnyOrder) {
  const auto of = [](int first, int second) {
    return lines_of(test::rank_line(0, first) + "\n" + test::rank_line(1, second) + "\n")
        .processes();
  };
  EXPECT_EQ(of(100, 101),
            lines_of(test::rank_line(1, 101) + "\n" + test::rank_line(0, 100) + "\n").processes());
  EXPECT_NE(of(100, 101), of(100, 102));
  EXPECT_NE(of(100, 101), of(101, 100));
}

TEST(LookSummary, SaysWhatTheLastLineSays) {
  const json seen = summary(document);
  EXPECT_TRUE(seen["error"].is_null());
  EXPECT_EQ(seen["ranks"]["ok"], 2);
  EXPECT_EQ(seen["stalled_ms"], 20.25);
  EXPECT_EQ(seen["analysis"]["verdict"], "deadlock");
  EXPECT_EQ(seen["analysis"]["core_size"], 2);
  EXPECT_EQ(seen["analysis"]["look_at"][0], "rank 0: MPI_Recv");
}

TEST(LookSummary, ADocumentThatWasCutOffHasNoVerdict) {
  for (const std::size_t missing : {1, 2, 30, 200}) {
    const json seen = summary(document.substr(0, document.size() - missing));
    EXPECT_EQ(seen["error"], "the document is cut off") << missing;
    EXPECT_TRUE(seen["analysis"].is_null());
    EXPECT_TRUE(seen["ranks"].is_null());
  }
}

TEST(LookSummary, ADocumentOfAnotherShapeHarmsNobody) {
  for (const char* last :
       {"", "null", "[]", "{}", R"({"type":7})", R"({"type":"summary"})",
        R"({"type":"summary","job":7,"ranks":"many","analysis":[1]})",
        R"({"type":"summary","job":{"stalled_ms":{}},"analysis":{"core_ranks":7,"look_at":8}})",
        R"({"type":"summary","analysis":{"look_at":[1,{},null],"verdict":{}}})", "\xff\xfe{"}) {
    json seen;
    EXPECT_NO_THROW(seen = summary(std::string(last) + "\n")) << last;
    EXPECT_NO_THROW(is_as_stuck(seen, seen)) << last;
    EXPECT_FALSE(is_as_stuck(seen, seen)) << last;
  }
}

TEST(LookSummary, IsBounded) {
  json analysis = json::parse(test::deadlock);
  for (int i = 0; i < 1000; ++i)
    analysis["look_at"].push_back(std::string(10'000, 'x'));
  EXPECT_LT(summary(test::summary_line(analysis.dump()) + "\n").dump().size(), 20'000U);
}

TEST(LookSummary, StuckMeansTheSameProcessesAtTheSamePlace) {
  const json before = summary(document);
  EXPECT_TRUE(is_as_stuck(before, summary(document)));
  const auto with = [](std::string_view name, const json& value) {
    json analysis = json::parse(test::deadlock);
    analysis[std::string(name)] = value;
    return summary(test::header_line + "\n" + test::rank_line(1, 101) + "\n" +
                   test::rank_line(0, 100) + "\n" + test::summary_line(analysis.dump()) + "\n");
  };
  EXPECT_TRUE(is_as_stuck(before, with("confidence", "likely")));
  EXPECT_FALSE(is_as_stuck(before, with("confidence", "possible"))) << "it may have moved";
  EXPECT_FALSE(is_as_stuck(before, with("verdict", "undecided")));
  EXPECT_FALSE(is_as_stuck(before, with("look_at", json::array({"rank 1: MPI_Send"}))));
  EXPECT_FALSE(is_as_stuck(before, with("core_ranks", json::array({0, 1, 2}))));
  std::string other = document;
  other.replace(other.find("\"pid\":101"), 9, "\"pid\":201");
  EXPECT_FALSE(is_as_stuck(before, summary(other))) << "another job, whose mpirun has its number";
}

class LookStoreTest : public testing::Test {
protected:
  LookStore store() const { return LookStore::open(directory_ / "looks").value(); }
  void keep(const std::string& id, const std::string& text = document) const {
    auto writer = store().begin("weather", id).value();
    writer->append(text.substr(0, text.size() / 2));
    writer->append(text.substr(text.size() / 2));
    ASSERT_TRUE(writer->finish(summary(text, id)));
  }
  fs::path file(const std::string& name) const { return directory_ / "looks/weather" / name; }
  std::vector<std::string> ids(const LookStore& store) const {
    std::vector<std::string> all;
    for (const json& look : store.looks_of("weather"))
      all.push_back(look["id"]);
    return all;
  }

  test::TempDirectory directory_;
};

TEST_F(LookStoreTest, WhatWasKeptIsFoundAgain) {
  keep("20261130T095821.333Z");
  keep("20261130T095822.333Z");
  const auto again = store();
  EXPECT_THAT(ids(again), testing::ElementsAre("20261130T095821.333Z", "20261130T095822.333Z"));
  EXPECT_EQ(again.looks_of("weather").front(), summary(document));
  EXPECT_EQ(unpacked_document(again.document("weather", "20261130T095821.333Z").value(), 1 << 20),
            document);
  EXPECT_TRUE(again.looks_of("other").empty());
}

TEST_F(LookStoreTest, ALookThatWasNotFinishedIsNone) {
  {
    const auto writer = store().begin("weather", "20261130T095821.333Z").value();
    writer->append(document);
  }
  EXPECT_TRUE(store().looks_of("weather").empty());
  EXPECT_TRUE(fs::is_empty(directory_ / "looks/weather"));
}

TEST_F(LookStoreTest, ASummaryThatIsMissingOrDamagedIsMadeAgain) {
  const std::string id = "20261130T095821.333Z";
  keep(id);
  for (const char* text : {"", "{", "[]", R"({"id":7})", "gone"}) {
    fs::remove(file(id + ".json"));
    if (std::string_view(text) != "gone")
      std::ofstream(file(id + ".json")) << text;
    const auto looks = store().looks_of("weather");
    ASSERT_EQ(looks.size(), 1U) << text;
    EXPECT_EQ(looks.front(), summary(document)) << text;
  }
}

TEST_F(LookStoreTest, ADocumentThatIsCutOffIsNoLookOrHasNoVerdict) {
  const std::string id = "20261130T095821.333Z";
  keep(id);
  const auto size = fs::file_size(file(id + ".ndjson.gz"));
  for (const auto left : {size - 1, size / 2, std::uintmax_t{11}, std::uintmax_t{0}}) {
    fs::remove(file(id + ".json"));
    fs::resize_file(file(id + ".ndjson.gz"), left);
    for (const json& look : store().looks_of("weather"))
      EXPECT_TRUE(look["analysis"].is_null()) << left;
    auto opened = store().document("weather", id);
    ASSERT_TRUE(opened);
    EXPECT_FALSE(unpacked_document(std::move(*opened), 1 << 20)) << left;
  }
}

TEST_F(LookStoreTest, ALongDocumentIsNotUnpacked) {
  keep("20261130T095821.333Z", std::string(10'000'000, 'x') + "\n" + document);
  EXPECT_LT(fs::file_size(file("20261130T095821.333Z.ndjson.gz")), 100'000U);
  EXPECT_FALSE(
      unpacked_document(store().document("weather", "20261130T095821.333Z").value(), 1 << 20));
}

TEST_F(LookStoreTest, NamesLeadNowhereElse) {
  keep("20261130T095821.333Z");
  std::ofstream(directory_ / "secret.ndjson.gz") << "secret";
  for (const auto& [job, id] : {std::pair("..", "secret"),
                                {"weather", "../../secret"},
                                {"weather/..", "secret"},
                                {"", "secret"},
                                {"weather", ""},
                                {"/etc", "passwd"},
                                {"weather", "."},
                                {"weather", "x\n"}})
    EXPECT_FALSE(store().document(job, id)) << job << " " << id;
  fs::create_symlink(directory_ / "secret.ndjson.gz", file("20261130T095900.000Z.ndjson.gz"));
  EXPECT_FALSE(store().document("weather", "20261130T095900.000Z")) << "a link";
  fs::create_symlink(directory_ / "secret.ndjson.gz", file("20261130T095901.000Z.json"));
  EXPECT_THAT(ids(store()), testing::ElementsAre("20261130T095821.333Z"));
}

TEST_F(LookStoreTest, JobsHaveNamesOfFolders) {
  for (const char* name : {"weather", "a", "A-1_b.c", "4711"})
    EXPECT_TRUE(is_job_name(name)) << name;
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("-x"), std::string("a/b"),
        std::string("a b"), std::string(65, 'a'), std::string("\xc3\xa4"), std::string("a\0", 2)})
    EXPECT_FALSE(is_job_name(name)) << name;
}

TEST_F(LookStoreTest, TheOldestMakeRoom) {
  for (int i = 0; i < 5; ++i)
    keep("20261130T09582" + std::to_string(i) + ".333Z");
  auto looks = store().looks_of("weather");
  store().make_room("weather", looks, {.looks = 2, .bytes = 1 << 30, .age = 24h * 36'500});
  ASSERT_EQ(looks.size(), 2U);
  EXPECT_EQ(looks.back()["id"], "20261130T095824.333Z");
  EXPECT_EQ(store().looks_of("weather"), looks);
  store().make_room("weather", looks, {.looks = 9, .bytes = 1, .age = 24h * 36'500});
  EXPECT_EQ(looks.size(), 1U) << "the last one stays, whatever it has";
}

TEST_F(LookStoreTest, SoDoThoseOfLongAgo) {
  keep("20261130T095821.333Z");
  keep("20261130T095822.333Z");
  auto looks = store().looks_of("weather");
  looks.front()["taken_at"] = "2001-01-01T00:00:00.000Z";
  looks.back()["taken_at"] = time_text(std::chrono::system_clock::now());
  store().make_room("weather", looks, {.looks = 9, .bytes = 1 << 30, .age = 24h});
  EXPECT_EQ(looks.size(), 1U);
}

TEST_F(LookStoreTest, NobodyElseMayWriteThere) {
  fs::create_directories(directory_ / "looks");
  ::chmod((directory_ / "looks").c_str(), 0777);
  const auto opened = LookStore::open(directory_ / "looks");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "files.store");
  fs::create_directory_symlink(directory_.path(), directory_ / "link");
  EXPECT_FALSE(LookStore::open(directory_ / "link"));
}

TEST_F(LookStoreTest, AFullDiskIsSaid) {
  const auto writer = store().begin("weather", "20261130T095821.333Z").value();
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{100, before.rlim_max};
  ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &little);
  std::string noise;
  for (int i = 0; i < 100'000; ++i)
    noise += std::to_string(i * 7919 % 100'003);
  writer->append(noise);
  const auto kept = writer->finish(summary(document));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, "files.store");
  EXPECT_TRUE(store().looks_of("weather").empty());
}

} // namespace
} // namespace mqbridge
