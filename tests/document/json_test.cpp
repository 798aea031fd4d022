#include "host/document/json_report.h"
#include "host/document/json_writer.h"
#include "tests/document/sample_dump.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace mqbridge::test {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

const JsonOptions plain{.tool_version = "0.1.0"};
const JsonOptions with_raw{.tool_version = "0.1.0", .raw = true};

json document(const Dump& dump, const JsonOptions& options = plain) {
  return json::parse(written([&](const Sink& sink) { write_json(dump, options, sink); }));
}

const json& first_operation(const json& document, const char* queue, std::size_t comm = 0) {
  return document["ranks"][0]["communicators"][comm]["queues"][queue]["operations"][0];
}

TEST(JsonWriter, WritesEveryKindOfValue) {
  const std::string text = written([](const Sink& sink) {
    JsonWriter writer(sink, JsonWriter::Layout::one_line);
    writer.begin_object();
    writer.member("text", "a\"\\\n\x01");
    writer.member("bytes", std::string("ok\xff\xc3"));
    writer.member("nan", std::nan(""));
    writer.member("infinite", std::numeric_limits<double>::infinity());
    writer.member("largest", std::numeric_limits<std::uint64_t>::max());
    writer.member("least", std::numeric_limits<std::int64_t>::min());
    writer.member("none", std::optional<int>{});
    writer.key("empty").begin_array();
    writer.end();
    writer.end();
    writer.end_line();
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const json parsed = json::parse(text);
  EXPECT_EQ(parsed["text"], "a\"\\\n\x01");
  EXPECT_EQ(parsed["bytes"], "ok\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(parsed["nan"].is_null());
  EXPECT_TRUE(parsed["infinite"].is_null());
  EXPECT_EQ(parsed["largest"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parsed["least"], std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(parsed["none"].is_null());
  EXPECT_EQ(parsed["empty"], json::array());
}

TEST(Json, KeysComeInTheSchemasOrder) {
  const ordered_json parsed = ordered_json::parse(
      written([](const Sink& sink) { write_json(sample_dump(), plain, sink); }));
  std::vector<std::string> keys;
  for (const auto& [key, value] : parsed.items())
    keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAre("schema", "tool", "taken_at", "job", "ranks", "analysis",
                                         "filters", "errors", "earlier"));
}

TEST(Json, StatusKindAndDeliveryAreTheSchemasWords) {
  Dump dump = sample_dump();
  Operation& send = dump.ranks[0].communicators[0].queue(OpClass::send).operations[0];
  const auto written = [&] { return first_operation(document(dump), "send"); };
  EXPECT_TRUE(written()["kind"].is_null());
  EXPECT_TRUE(written()["delivered"].is_null());
  for (const auto& [status, word] :
       {std::pair{OpStatus::inactive, "inactive"}, std::pair{OpStatus::unknown, "unknown"}}) {
    send.status = status;
    EXPECT_EQ(written()["status"], word);
  }
  for (const auto& [kind, word] :
       {std::pair{OpKind::send, "send"}, std::pair{OpKind::receive, "receive"},
        std::pair{OpKind::probe, "probe"}, std::pair{OpKind::mprobe, "mprobe"},
        std::pair{OpKind::message, "message"}}) {
    send.kind = kind;
    EXPECT_EQ(written()["kind"], word);
  }
  send.delivery = Delivery::undelivered;
  EXPECT_EQ(written()["delivered"], false);
  send.delivery = Delivery::delivered;
  EXPECT_EQ(written()["delivered"], true);
}

TEST(Json, WhatTheDllDoesNotSayIsInTheSchemasWords) {
  Dump dump = sample_dump();
  Communicator& all = dump.ranks[0].communicators[0];
  Operation& send = all.queue(OpClass::send).operations[0];
  const auto written = [&] { return first_operation(document(dump, with_raw), "send"); };
  EXPECT_EQ(written()["source"], "dll");
  for (const char* key : {"collective", "protocol", "waited"})
    EXPECT_TRUE(written()[key].is_null()) << key;
  send.source = OpSource::mqbridge;
  send.collective = Collective::allreduce;
  send.protocol = Protocol::eager;
  send.waited = Waited{.group = 7, .count = 1, .mode = WaitMode::any, .unseen = true};
  EXPECT_EQ(written()["source"], "mqbridge");
  EXPECT_EQ(written()["collective"], "allreduce");
  EXPECT_EQ(written()["protocol"], "eager");
  EXPECT_EQ(written()["waited"],
            (json{{"mode", "any"}, {"group", 7}, {"count", 1}, {"unseen", true}}));
  send.waited = Waited{.group = 4'000'000'000};
  EXPECT_EQ(
      written()["waited"],
      (json{
          {"mode", "unknown"}, {"group", 4'000'000'000}, {"count", nullptr}, {"unseen", nullptr}}));
  send.raw = {};
  EXPECT_FALSE(written().contains("raw")) << "mqbridge's word is not the DLL's";
}

TEST(Json, CountersOfMessagesAndTheThreadLevelOrNull) {
  Dump dump = sample_dump();
  const auto rank = [&] { return document(dump)["ranks"][0]; };
  const auto counters = [&] { return rank()["communicators"][0]["counters"]; };
  EXPECT_TRUE(counters().is_null());
  EXPECT_TRUE(rank()["thread_level"].is_null());
  dump.ranks[0].mpi->thread_level = ThreadLevel::multiple;
  EXPECT_EQ(rank()["thread_level"], "multiple");
  dump.ranks[0].communicators[0].counters =
      MessageCounters{65536, std::nullopt, {{3, 65'535, std::nullopt}, {5, std::nullopt, 0}}};
  EXPECT_EQ(counters(), json::parse(R"({"modulus": 65536, "received": null, "peers": [
    {"peer": 3, "sent": 65535, "arrived": null}, {"peer": 5, "sent": null, "arrived": 0}]})"));
}

TEST(Json, StatisticsSayWhatIsKnownOfTheLink) {
  Dump dump = sample_dump();
  const auto statistics = [&] { return document(dump)["ranks"][0]["statistics"]; };
  for (const char* key : {"pages_touched", "pages_read", "rtt_us", "bandwidth_bps"})
    EXPECT_TRUE(statistics()[key].is_null()) << key;
  Statistics& known = dump.ranks[0].statistics;
  known.pages_touched = 200;
  known.pages_read = 250;
  known.rtt_us = 417.5;
  known.bandwidth_bps = 92'160;
  EXPECT_EQ(statistics()["pages_touched"], 200);
  EXPECT_EQ(statistics()["pages_read"], 250);
  EXPECT_EQ(statistics()["rtt_us"], 417.5);
  EXPECT_EQ(statistics()["bandwidth_bps"], 92'160);
}

TEST(Json, OperationsSayWhatTheModelSays) {
  const json parsed = document(sample_dump());
  const json& send = first_operation(parsed, "send");
  EXPECT_EQ(send["status"], "pending");
  EXPECT_EQ(send["peer"], (json{{"any", false}, {"local_rank", 1}, {"global_rank", 1}}));
  EXPECT_EQ(send["tag"], (json{{"any", false}, {"value", 17}}));
  EXPECT_EQ(send["length"], (json{{"value", 4194304}, {"unit", "bytes"}}));
  EXPECT_EQ(send["buffer"], "0x7f1c4b001010");
  EXPECT_EQ(send["request"], "0x5590");
  EXPECT_EQ(send["actual"]["length"], 4194304);
  const json& receive = first_operation(parsed, "receive");
  EXPECT_EQ(receive["peer"],
            (json{{"any", true}, {"local_rank", nullptr}, {"global_rank", nullptr}}));
  EXPECT_EQ(receive["tag"], (json{{"any", true}, {"value", nullptr}}));
  EXPECT_TRUE(receive["actual"].is_null());
  EXPECT_EQ(receive["repairs"], json{"sign_extension"});
}

TEST(Json, QueuesThatAreNotThereAreNeverEmpty) {
  const json parsed = document(sample_dump());
  const json& queues = parsed["ranks"][0]["communicators"][0]["queues"];
  EXPECT_EQ(queues["unexpected"]["state"], "unavailable");
  EXPECT_EQ(queues["unexpected"]["reason"], "not_provided");
  EXPECT_TRUE(queues["unexpected"]["total"].is_null());
  EXPECT_EQ(queues["send"]["state"], "available");
  EXPECT_TRUE(queues["send"]["reason"].is_null());
  EXPECT_EQ(queues["send"]["total"], 1);
}

TEST(Json, GroupsAreRuns) {
  const json parsed = document(sample_dump());
  const json& communicators = parsed["ranks"][0]["communicators"];
  EXPECT_EQ(communicators[0]["group"], json::parse("[[0,2,1]]"));
  EXPECT_EQ(communicators[1]["group"], json::parse("[[2,0,-1]]"));
}

TEST(Json, RawOnlyWhenAskedAndOnlyWhereItDiffers) {
  EXPECT_FALSE(first_operation(document(sample_dump()), "receive").contains("raw"));
  const json parsed = document(sample_dump(), with_raw);
  EXPECT_FALSE(first_operation(parsed, "send").contains("raw"));
  EXPECT_EQ(first_operation(parsed, "receive")["raw"],
            (json{{"tag_wild", 0}, {"desired_tag", 4294967295}}));
}

TEST(Json, RawKeepsAddresses) {
  Dump dump = sample_dump();
  Communicator& communicator = dump.ranks[0].communicators[0];
  communicator.queue(OpClass::send).operations[0].buffer.reset();
  const json parsed = document(dump, with_raw);
  EXPECT_EQ(first_operation(parsed, "send")["raw"], (json{{"buffer", "0x7f1c4b001010"}}));
}

TEST(Json, NamesAreTheBytesInMemory) {
  Dump dump = sample_dump();
  dump.ranks[0].communicators[1].name = "row\x1b[2J\x01?";
  EXPECT_EQ(document(dump)["ranks"][0]["communicators"][1]["name"], "row\x1b[2J\x01?");
}

TEST(Json, SaysWhoIsOnTheOtherSide) {
  Dump dump = sample_dump();
  Communicator& row = dump.ranks[0].communicators[1];
  row.kind = CommunicatorKind::inter;
  row.internal = true;
  row.remote.ranks = {5, 6, 7};
  row.group.reset();
  row.members = {{"1:a", 0}, {"2:b", 0}};
  const json said = document(dump)["ranks"][0]["communicators"];
  EXPECT_EQ(said[0]["kind"], "intra");
  EXPECT_FALSE(said[0]["internal"]);
  EXPECT_TRUE(said[0]["members"].is_null() && said[0]["remote_group"].is_null());
  EXPECT_EQ(said[1]["kind"], "inter");
  EXPECT_TRUE(said[1]["internal"]);
  EXPECT_TRUE(said[1]["group"].is_null() && said[1]["remote_members"].is_null());
  EXPECT_EQ(said[1]["remote_group"], json::parse("[[5,7,1]]"));
  EXPECT_EQ(said[1]["members"],
            json::parse(R"([{"job_id": "1:a", "rank": 0}, {"job_id": "2:b", "rank": 0}])"));
}

TEST(Json, NamesThatAreNotUtf8DoNotThrow) {
  Dump dump = sample_dump();
  dump.ranks[0].communicators[1].name = "\xff\xfe row";
  dump.ranks[0].errors.push_back({"x", RankError::Level::warning, "\x80", ""});
  const json parsed = document(dump);
  EXPECT_EQ(parsed["ranks"][0]["communicators"][1]["name"], "\xef\xbf\xbd\xef\xbf\xbd row");
  EXPECT_TRUE(parsed["ranks"][0]["errors"][0]["hint"].is_null());
  const auto said = [](const std::string& text) {
    return written([&](const Sink& sink) {
      JsonWriter writer(sink, JsonWriter::Layout::one_line);
      writer.value(text);
      writer.end_line();
    });
  };
  EXPECT_EQ(said("\xff row"), said("\xef\xbf\xbd row")); // read, and written again
}

/// C1 controls, a right-to-left override and a character without width: read again they are the
/// same.
TEST(Json, NothingInANameDrivesTheTerminal) {
  Dump dump = sample_dump();
  const std::string name = "caf\xc3\xa9 \xc2\x9b[2J \xe2\x80\xae \xf3\xa0\x80\x81";
  dump.ranks[0].communicators[1].name = name;
  const auto text = written([&](const Sink& sink) { write_json(dump, plain, sink); });
  for (const char* raw : {"\xc2\x9b", "\xe2\x80\xae", "\xf3\xa0\x80\x81"})
    EXPECT_EQ(text.find(raw), std::string::npos);
  EXPECT_EQ(document(dump)["ranks"][0]["communicators"][1]["name"], name);
}

TEST(Json, FiltersSayWhatWasLeftOut) {
  Dump dump = sample_dump();
  EXPECT_EQ(document(dump)["filters"], json::object());
  dump.filters = {{OpClass::send}, false, {"row"}, {0, 1, 2}, {5, -1}, {7}};
  EXPECT_EQ(document(dump)["filters"], (json{{"queue", {"send"}},
                                             {"comm", {"row"}},
                                             {"rank", json::parse("[[0,2,1]]")},
                                             {"tag", {5, -1}},
                                             {"peer", {7}}}));
}

TEST(Json, WhatFailedOfNoRankIsAtTheEnd) {
  Dump dump = sample_dump();
  EXPECT_EQ(document(dump)["errors"], json::array());
  dump.errors = {{"ssh.failed", RankError::Level::error, "n020: no route", "ssh n020 true"}};
  const json said = {{"code", "ssh.failed"},
                     {"level", "error"},
                     {"message", "n020: no route"},
                     {"hint", "ssh n020 true"}};
  EXPECT_EQ(document(dump)["errors"], json::array({said}));
  const auto line =
      json::parse(written([&](const Sink& sink) { write_ndjson_summary(dump, sink); }));
  EXPECT_EQ(line["errors"], json::array({said}));
}

TEST(Json, AnOperationIsALine) {
  const std::string text =
      written([](const Sink& sink) { write_json(sample_dump(), plain, sink); });
  EXPECT_THAT(text, testing::HasSubstr("\n                {\"status\":\"pending\",\"peer\":{"));
}

TEST(Ndjson, HeaderRanksSummaryEachALine) {
  Dump dump = sample_dump();
  dump.ranks[0].communicators[0].key.clear();
  std::vector<std::string> lines;
  const Sink sink = [&](std::string_view piece) { lines.emplace_back(piece); };
  write_ndjson_header(dump, plain, sink);
  write_ndjson_rank(dump.ranks[0], plain, sink);
  write_ndjson_summary(dump, sink);
  ASSERT_EQ(lines.size(), 3U);
  for (const std::string& line : lines) {
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_TRUE(json::accept(line));
  }
  const json header = json::parse(lines[0]);
  EXPECT_EQ(header["type"], "header");
  EXPECT_EQ(header["schema"], "mqbridge.dump/1");
  EXPECT_EQ(header["job"]["source"], "targets");
  const json rank = json::parse(lines[1]);
  EXPECT_EQ(rank["type"], "rank");
  EXPECT_TRUE(rank["communicators"][0]["key"].is_null());
  const json summary = json::parse(lines[2]);
  EXPECT_EQ(summary["type"], "summary");
  EXPECT_EQ(summary["ranks"], (json{{"total", 3}, {"ok", 2}, {"partial", 0}, {"failed", 1}}));
  EXPECT_EQ(summary["job"]["stalled_ms"], 53);
}

} // namespace
} // namespace mqbridge::test
