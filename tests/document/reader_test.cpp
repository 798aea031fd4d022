#include "host/document/document_reader.h"
#include "host/document/json_report.h"
#include "tests/document/filled_value.h"
#include "tests/document/rich_dump.h"
#include "tests/document/sample_dump.h"
#include "tests/fuzz/fuzz_input.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

namespace mqbridge::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::uint64_t enough = std::uint64_t{1} << 30;
const JsonOptions without_raw{.tool_version = "0.1.0"};
const JsonOptions raw_too{.tool_version = "0.1.0", .raw = true};

std::string text_of(const Dump& dump, const JsonOptions& options = raw_too) {
  return written([&](const Sink& sink) { write_json(dump, options, sink); });
}

Result<WrittenDump> read(const std::string& text, std::uint64_t most_bytes = enough) {
  std::istringstream in(text);
  return DocumentReader(most_bytes).document(in);
}

Result<DocumentLine> read_line(const std::string& text) {
  return DocumentReader(enough).line(text);
}

std::string message_of(const auto& result) {
  return result ? "no error" : fmt::format("{}: {}", result.error().code, result.error().message);
}

TEST(DocumentReader, WhatIsWrittenComesBackToTheLastByte) {
  for (const auto& dump : {Dump{}, sample_dump(), ring_dump(20), rich_dump()})
    for (const auto& options : {without_raw, raw_too}) {
      const auto text = text_of(dump, options);
      const auto again = read(text);
      ASSERT_TRUE(again) << message_of(again);
      EXPECT_EQ(again->tool_version, "0.1.0");
      EXPECT_EQ(text_of(again->dump, options), text);
    }
}

TEST(DocumentReader, WhateverTheDescriptionAllowsComesBackToTheLastByte) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(16'384);
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    FuzzInput input(bytes.data(), bytes.size());
    const auto text = text_of(filled_dump(input));
    const auto again = read(text);
    ASSERT_TRUE(again) << seed << ": " << message_of(again);
    ASSERT_EQ(text_of(again->dump), text) << seed;
  }
}

TEST(DocumentReader, LinesComeBackToTheLastByte) {
  const Dump dump = rich_dump();
  std::string all;
  std::string again;
  const Sink sink = [&](std::string_view line) { all += line; };
  const Sink again_sink = [&](std::string_view line) { again += line; };
  write_ndjson_header(dump, raw_too, sink);
  write_ndjson_rank(dump.ranks[0], raw_too, sink);
  write_ndjson_earlier(dump.earlier[0].ranks[0], "2026-11-05T07:59:58Z", raw_too, sink);
  write_ndjson_summary(dump, sink);

  std::istringstream in(all);
  DocumentReader reader(enough);
  std::vector<DocumentLine> lines;
  for (std::string line; std::getline(in, line);) {
    auto parsed = reader.line(line);
    ASSERT_TRUE(parsed) << message_of(parsed);
    lines.push_back(std::move(*parsed));
  }
  ASSERT_EQ(lines.size(), 4U);
  const auto& header = std::get<HeaderLine>(lines[0]);
  EXPECT_EQ(header.tool_version, "0.1.0");
  write_ndjson_header(header.dump, raw_too, again_sink);
  write_ndjson_rank(std::get<RankDump>(lines[1]), raw_too, again_sink);
  const auto& earlier = std::get<EarlierLine>(lines[2]);
  EXPECT_EQ(earlier.taken_at, "2026-11-05T07:59:58Z");
  write_ndjson_earlier(earlier.rank, earlier.taken_at, raw_too, again_sink);
  auto summary = std::get<SummaryLine>(lines[3]);
  EXPECT_EQ(summary.ranks, 2U);
  summary.dump.ranks = dump.ranks;
  write_ndjson_summary(summary.dump, again_sink);
  EXPECT_EQ(again, all);
}

TEST(DocumentReader, LinesOfAnotherTypeArePassedOver) {
  const auto line = read_line(R"({"type": "of a later version", "more": [1, {"a": 2}]})");
  ASSERT_TRUE(line);
  EXPECT_TRUE(std::holds_alternative<OtherLine>(*line));
}

TEST(DocumentReader, TheModelHasTheValues) {
  const auto dump = rich_dump();
  const auto again = read(text_of(dump));
  ASSERT_TRUE(again) << message_of(again);
  const auto& rank = again->dump.ranks.at(0);
  EXPECT_EQ(rank.platform, dump.ranks[0].platform);
  const auto& communicator = rank.communicators.at(0);
  EXPECT_EQ(communicator.context, 0x8000000000000001U);
  EXPECT_EQ(communicator.group, dump.ranks[0].communicators[0].group);
  const auto& operation = communicator.queue(OpClass::unexpected).operations.at(1);
  EXPECT_EQ(operation.raw.desired_tag, std::int64_t{1} << 62);
  EXPECT_EQ(operation.raw.buffer, 0xffffffff80001000U);
  EXPECT_EQ(operation.text.size(), 2U);
  EXPECT_EQ(operation.text.all()[2], "hidden");
  EXPECT_EQ(operation.protocol, Protocol::rendezvous);
  EXPECT_EQ(operation.collective, Collective::reduce_scatter_block);
  EXPECT_EQ(operation.source, OpSource::dll);
  EXPECT_EQ(operation.waited.group, 4'294'967'295U);
  EXPECT_EQ(operation.waited.count, 536'870'910U);
  EXPECT_EQ(operation.waited.mode, WaitMode::any);
  EXPECT_TRUE(operation.waited.unseen);
  EXPECT_EQ(rank.mpi->thread_level, ThreadLevel::serialized);
  ASSERT_TRUE(communicator.counters);
  EXPECT_EQ(communicator.counters->modulus, 65536);
  EXPECT_EQ(communicator.counters->received, 70'000);
  ASSERT_EQ(communicator.counters->peers.size(), 2U);
  EXPECT_EQ(communicator.counters->peers[1].peer, -7);
  EXPECT_EQ(communicator.counters->peers[1].sent, 1);
  EXPECT_EQ(communicator.counters->peers[1].arrived, 65'534);
  EXPECT_EQ(operation.call, communicator.queue(OpClass::send).operations.at(0).call) << "shared";
}

TEST(DocumentReader, TheModelHasWhatWasRecorded) {
  const auto again = read(text_of(rich_dump()));
  ASSERT_TRUE(again) << message_of(again);
  const auto& communicator = again->dump.ranks[0].communicators.at(0);
  ASSERT_TRUE(communicator.recorded);
  const auto& recorded = *communicator.recorded;
  EXPECT_FALSE(recorded.whole);
  EXPECT_EQ(recorded.collectives, 4'294'967'295);
  ASSERT_EQ(recorded.channels.size(), 2U);
  EXPECT_EQ(recorded.channels[0].peer, 3);
  EXPECT_EQ(recorded.channels[0].tag, -2'147'483'648);
  EXPECT_EQ(recorded.channels[0].sent, 1U);
  EXPECT_EQ(recorded.channels[0].received, 4'294'967'295U);
  EXPECT_EQ(recorded.channels[1].tag, std::nullopt);
  ASSERT_EQ(recorded.under_way.size(), 2U);
  const auto& collective = recorded.under_way[0];
  EXPECT_EQ(collective.call, "MPI_Ibcast");
  EXPECT_EQ(collective.sequence, 4'294'967'295);
  EXPECT_EQ(collective.root, 3);
  EXPECT_EQ(collective.request, TargetAddress{0x5590a1c8});
  EXPECT_EQ(collective.waited.group, 9U);
  ASSERT_TRUE(collective.site);
  EXPECT_EQ(*collective.site, (CallSite{TargetAddress{0x401300}, "solve", "solve.c", 12}));
  EXPECT_EQ(recorded.under_way[1].root, std::nullopt);
  EXPECT_EQ(recorded.under_way[1].site, nullptr);
  EXPECT_FALSE(again->dump.ranks[0].communicators.at(1).recorded) << "there is no recorder";
  EXPECT_EQ(again->dump.ranks[0].blocked_in->at(0).group, 4'294'967'295U);
}

TEST(DocumentReader, OperationsOfOnePlaceShareItsCallSite) {
  const auto again = read(text_of(rich_dump()));
  ASSERT_TRUE(again) << message_of(again);
  const auto& communicator = again->dump.ranks[0].communicators.at(0);
  const auto& operations = communicator.queue(OpClass::unexpected).operations;
  ASSERT_TRUE(operations.at(0).site);
  EXPECT_EQ(*operations.at(0).site,
            (CallSite{TargetAddress{0xffffffff80401234}, "exchange<\"a\">", "halo.c", 212}));
  EXPECT_EQ(operations.at(0).site, communicator.queue(OpClass::send).operations.at(1).site);
  EXPECT_EQ(operations.at(2).site, nullptr);
  EXPECT_EQ(operations.at(3).source, OpSource::recorder);
  EXPECT_EQ(operations.at(3).raw.desired_tag, 0) << "the DLL said nothing of it";
  EXPECT_EQ(*operations.at(3).site, CallSite{TargetAddress{0x401234}});
}

TEST(DocumentReader, ThatNoQueueWasAskedForIsNotThatAllWere) {
  Dump dump = sample_dump();
  dump.filters.no_queues = true;
  const auto text = text_of(dump);
  EXPECT_EQ(json::parse(text)["filters"], json::parse(R"({"queue": []})"));
  const auto again = read(text);
  ASSERT_TRUE(again) << message_of(again);
  EXPECT_TRUE(again->dump.filters.no_queues);
  EXPECT_FALSE(read(text_of(sample_dump()))->dump.filters.no_queues);
}

TEST(DocumentReader, TheModelHasTheStacks) {
  const auto dump = rich_dump();
  const auto again = read(text_of(dump));
  ASSERT_TRUE(again) << message_of(again);
  const auto& stacks = again->dump.ranks.at(0).stacks;
  ASSERT_TRUE(stacks);
  ASSERT_EQ(stacks->size(), 2U);
  EXPECT_EQ(stacks->at(0).thread, 41822);
  EXPECT_EQ(stacks->at(0).end, StackEnd::no_cfi);
  EXPECT_TRUE(stacks->at(0).helper);
  ASSERT_EQ(stacks->at(0).frames.size(), 2U);
  EXPECT_EQ(stacks->at(0).frames[0].address.value, 0x7f1c4b112233U);
  EXPECT_TRUE(stacks->at(0).frames[0].inlined);
  EXPECT_EQ(stacks->at(0).frames[1].function, "solve<\"a\">");
  EXPECT_EQ(stacks->at(0).frames[1].line, 12);
  const auto& calls = again->dump.ranks[0].blocked_in;
  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 1U);
  EXPECT_EQ(calls->at(0).call, "MPI_Recv");
  EXPECT_EQ(calls->at(0).request, TargetAddress{0x5590a1c0});
  EXPECT_EQ(calls->at(0).request_unique, false);
  EXPECT_EQ(calls->at(0).root, 3);
  EXPECT_EQ(calls->at(0).sequence, 7);
  EXPECT_FALSE(again->dump.ranks[1].stacks) << "null is not an empty list";
}

TEST(DocumentReader, TheModelHasTheEarlierLooks) {
  const auto dump = rich_dump();
  const auto again = read(text_of(dump));
  ASSERT_TRUE(again) << message_of(again);
  EXPECT_EQ(again->dump.ranks.size(), 2U);
  const auto& looks = again->dump.earlier;
  ASSERT_EQ(looks.size(), 2U);
  EXPECT_EQ(looks[0].taken_at, "2026-11-05T07:59:58Z");
  ASSERT_EQ(looks[0].ranks.size(), 2U);
  EXPECT_EQ(looks[0].ranks[0].rank, 4);
  EXPECT_EQ(looks[0].ranks[0].communicators[0].queue(OpClass::send).operations.size(), 4U);
  EXPECT_EQ(looks[1].taken_at, "2026-11-05T07:59:59Z");
  EXPECT_TRUE(looks[1].ranks.empty());
}

/// Members come in any order, and what is taken out of the tree for one rank is no other's.
TEST(DocumentReader, EarlierLooksMayStandBeforeTheRanks) {
  const auto text = text_of(rich_dump());
  auto parsed = nlohmann::ordered_json::parse(text);
  const auto earlier = parsed["earlier"];
  parsed.erase("earlier");
  parsed["operations"] = json::array();
  const auto rest = parsed.dump();
  const auto again = read("{\"earlier\": " + earlier.dump() + ", " + rest.substr(1));
  ASSERT_TRUE(again) << message_of(again);
  EXPECT_EQ(text_of(again->dump), text);
}

TEST(DocumentReader, LooksThatAreNoneAreAnError) {
  const auto with = [](const char* earlier) {
    auto document = json::parse(text_of(ring_dump(1), without_raw));
    document["earlier"] = json::parse(earlier);
    return message_of(read(document.dump()));
  };
  EXPECT_EQ(with("null"), "no error");
  EXPECT_EQ(with("[]"), "no error");
  EXPECT_THAT(with("{}"), HasSubstr("earlier: an array"));
  EXPECT_THAT(with("[1]"), HasSubstr("earlier[0]: an object"));
  EXPECT_THAT(with(R"([{"ranks": []}])"), HasSubstr("earlier[0].taken_at"));
  EXPECT_THAT(with(R"([{"taken_at": "x"}])"), HasSubstr("earlier[0].ranks"));
  EXPECT_THAT(with(R"([0, {"ranks": [{}]}])"), HasSubstr("earlier[1].ranks[0]"));
  EXPECT_THAT(with(R"([{"taken_at": "x", "ranks": [{"rank": -1}]}])"),
              HasSubstr("earlier[0].ranks[0].rank"));
  EXPECT_THAT(with(R"({"0": {"taken_at": "x", "ranks": [0]}})"), HasSubstr("earlier: an array"));
}

TEST(DocumentReader, AnEarlierLookTakesNoMoreMemoryThanItMay) {
  Dump dump = ring_dump(1);
  dump.earlier = {{"x", sample_dump().ranks}}; // a thousand operations
  const auto text = text_of(dump);
  EXPECT_THAT(message_of(read(text, 100'000)), HasSubstr("document.limit"));
  EXPECT_EQ(message_of(read(text, 1'000'000)), "no error");
}

/// It can be made again, and whoever wrote it may have lied.
TEST(DocumentReader, AnAnalysisIsNotRead) {
  Dump dump = rich_dump();
  const auto without = text_of(dump);
  dump.analysis = rich_analysis();
  const auto again = read(text_of(dump));
  ASSERT_TRUE(again) << message_of(again);
  EXPECT_FALSE(again->dump.analysis);
  EXPECT_EQ(text_of(again->dump), without);
}

TEST(DocumentReader, WhatMqbridgeReadHasNoRawValues) {
  const auto again = read(text_of(rich_dump()));
  ASSERT_TRUE(again) << message_of(again);
  const auto& operation =
      again->dump.ranks[0].communicators[0].queue(OpClass::unexpected).operations.at(2);
  EXPECT_EQ(operation.source, OpSource::mqbridge);
  EXPECT_EQ(operation.tag.value, -1'073'741'824);
  EXPECT_EQ(operation.raw.desired_tag, 0) << "the DLL said nothing of it";
  EXPECT_EQ(operation.collective, Collective::barrier);
  EXPECT_EQ(operation.waited.group, 1U);
  EXPECT_EQ(operation.waited.count, Waited::unknown_count);
  EXPECT_EQ(operation.waited.mode, WaitMode::unknown);
  EXPECT_FALSE(operation.waited.unseen);
}

/// What the writer leaves null, or the reader passes over.
bool is_never_known(const std::string& key) {
  return std::set<std::string>{"analysis", "unchanged_ms"}.contains(key);
}

/// Every member of every object below, as JSON pointers.
void collect_members(const json& value, const json::json_pointer& at,
                     std::vector<json::json_pointer>& found) {
  if (value.is_object())
    for (const auto& [key, member] : value.items()) {
      found.push_back(at / key);
      collect_members(member, at / key, found);
    }
  else if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      collect_members(value[i], at / i, found);
}

class EveryMember : public testing::Test {
protected:
  EveryMember() : document_(json::parse(text_of(rich_dump()))) {
    document_["ranks"].erase(1);
    auto& queues = document_["ranks"][0]["communicators"][0]["queues"];
    document_["ranks"][0]["communicators"].erase(1);
    for (const char* queue : {"receive", "unexpected"})
      queues[queue]["operations"] = json::array();
    queues["send"]["operations"].erase(3); // has no raw values
    queues["send"]["operations"].erase(2); // nor this one
    queues["send"]["operations"].erase(1);
    auto& recorded = document_["ranks"][0]["communicators"][0]["recorded"];
    recorded["channels"].erase(1); // of other tags
    recorded["under_way"].erase(1);
    document_["earlier"].erase(1);
    document_["earlier"][0]["ranks"].erase(1);
    document_["earlier"][0]["ranks"][0]["communicators"] = json::array();
    document_["earlier"][0]["ranks"][0].erase("variables");
    document_["earlier"][0]["ranks"][0].erase("handles");
    keep_one_variable(document_["ranks"][0]["variables"]["variables"]);
    keep_one_of_each(document_["ranks"][0]["handles"]);
    collect_members(document_, json::json_pointer(), members_);
  }

  /// One that has what control variables have, and what performance variables have.
  static void keep_one_variable(json& variables) {
    json one = variables[0];
    take_what_lacks(one, variables[3]);
    one["readings"] = json::array({variables[3]["readings"][0]});
    one["readings"][0]["reason"] = "why";
    variables = json::array({one});
  }

  /// One communicator that has what all kinds of them have; one request.
  static void keep_one_of_each(json& handles) {
    auto& communicators = handles["communicators"];
    json one = communicators[0];
    for (const auto& other : communicators)
      take_what_lacks(one, other);
    one["attributes"].erase(1); // it has no name
    communicators = json::array({one});
    handles["requests"].erase(1);
  }

  static void take_what_lacks(json& object, const json& other) {
    for (const auto& [key, value] : other.items())
      if (object[key].is_null())
        object[key] = value;
  }

  /// "/ranks/0/pid" as the reader says it: "ranks[0].pid".
  static std::string place_of(const json::json_pointer& pointer) {
    std::string place;
    std::istringstream in(pointer.to_string().substr(1));
    for (std::string part; std::getline(in, part, '/');)
      if (!part.empty() && std::isdigit(part[0]) != 0)
        place += "[" + part + "]";
      else
        place += (place.empty() ? "" : ".") + part;
    return place;
  }

  static json again(const WrittenDump& read) { return json::parse(text_of(read.dump)); }

  json document_;
  std::vector<json::json_pointer> members_;
};

TEST_F(EveryMember, OfTheRichDocumentIsKnown) {
  EXPECT_GT(members_.size(), 100U);
  for (const auto& member : members_)
    EXPECT_TRUE(is_never_known(member.back()) || !document_[member].is_null()) << member;
}

/// What a document does not say is not known, or the document is refused: never another value.
TEST_F(EveryMember, ThatIsMissingIsNullOrAnErrorThatNamesIt) {
  const std::set<std::string> otherwise = {"named_by_mpi", "raw", "filters", "source"};
  std::size_t null = 0;
  for (const auto& member : members_) {
    auto broken = document_;
    broken[member.parent_pointer()].erase(member.back());
    const auto result = read(broken.dump());
    const bool in_raw = member.to_string().find("/raw/") != std::string::npos;
    const bool in_filters = member.to_string().starts_with("/filters/");
    if (!result) {
      EXPECT_EQ(result.error().code, "document.field");
      EXPECT_THAT(result.error().message, HasSubstr(place_of(member))) << member;
    } else if (!otherwise.contains(member.back()) && !in_raw && !in_filters) {
      const auto written_again = again(*result);
      const bool empty = !written_again.contains(member) || written_again[member].is_null() ||
                         (member == json::json_pointer("/errors") && written_again[member].empty());
      const auto word = written_again.value(member, json());
      EXPECT_TRUE(empty || word == "unknown") << member << " became " << written_again[member];
      ++null;
    }
  }
  EXPECT_GT(null, 30U);
}

TEST_F(EveryMember, OfAnotherTypeIsAnErrorThatNamesIt) {
  const std::vector<json> others = {
      true, -1, 1.5, "a word", json::array({json::object()}), {{"an", "object"}}};
  std::size_t refused = 0;
  for (const auto& member : members_)
    for (const auto& other : others) {
      const auto& own = document_[member];
      const bool numbers = own.is_number_float() && other.is_number();
      if (is_never_known(member.back()) || own.type_name() == std::string(other.type_name()) ||
          numbers || member.back() == "context" || member.back() == "value")
        continue;
      auto broken = document_;
      broken[member] = other;
      const auto result = read(broken.dump());
      ASSERT_FALSE(result) << member << " as " << other << " is read";
      EXPECT_THAT(result.error().message, HasSubstr(place_of(member))) << other;
      ++refused;
    }
  EXPECT_GT(refused, 300U);
}

TEST(DocumentReader, WordsOfLaterVersionsAreUnknownOrAnError) {
  const auto text = text_of(ring_dump(1), without_raw);
  const auto with = [&](std::string_view from, std::string_view to) {
    auto changed = text;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return read(changed.replace(at, from.size(), to));
  };
  const auto status = with(R"({"status":"pending")", R"({"status":"revoked")");
  ASSERT_TRUE(status) << message_of(status);
  EXPECT_EQ(status->dump.ranks[0].communicators[0].queue(OpClass::receive).operations[0].status,
            OpStatus::unknown);
  const auto collective = with(R"("collective":null)", R"("collective":"allgossip")");
  ASSERT_TRUE(collective) << message_of(collective);
  EXPECT_EQ(
      collective->dump.ranks[0].communicators[0].queue(OpClass::receive).operations[0].collective,
      Collective::internal)
      << "never the program's own";
  const auto state = with(R"("state": "initialized")", R"("state": "sessions")");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->dump.ranks[0].mpi->state, MpiState::unknown);
  EXPECT_THAT(message_of(with(R"("status": "ok")", R"("status": "fine")")),
              HasSubstr("ranks[0].status: a word that this version knows"));
  EXPECT_THAT(message_of(with(R"("state": "available")", R"("state": "halved")")),
              HasSubstr("queues.send.state: a word that this version knows"));
  EXPECT_THAT(message_of(with(R"("truncated_by": null)", R"("truncated_by": "heat")")),
              HasSubstr("queues.send.truncated_by: a word"));
  EXPECT_EQ(message_of(with("mqbridge.dump/1", "mqbridge.dump/2")).substr(0, 16),
            "document.schema:");
}

TEST(DocumentReader, ValuesThatNoTypeHoldsAreAnError) {
  const auto text = text_of(rich_dump());
  const auto with = [&](std::string_view from, std::string_view to) {
    auto changed = text;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return message_of(read(changed.replace(at, from.size(), to)));
  };
  EXPECT_THAT(with("\"rank\": 5", "\"rank\": 5000000000"), HasSubstr("ranks[0].rank"));
  EXPECT_THAT(with("\"rank\": 5", "\"rank\": -5"), HasSubstr("ranks[0].rank"));
  EXPECT_THAT(with("\"pid\": 41822", "\"pid\": 9223372036854775808"), HasSubstr("ranks[0].pid"));
  EXPECT_THAT(with("\"pid\": 41822", "\"pid\": 1e999"), HasSubstr("document.syntax"));
  EXPECT_THAT(with("\"requests\": 40", "\"requests\": -1"), HasSubstr("statistics.requests"));
  EXPECT_THAT(with("\"pointer_size\":4", "\"pointer_size\":6"), HasSubstr("pointer_size"));
  EXPECT_THAT(with("\"sequence\":4294967294", "\"sequence\":4294967295"), HasSubstr("sequence"));
  EXPECT_THAT(with("\"group\":4294967295", "\"group\":0"), HasSubstr("waited.group"));
  EXPECT_THAT(with("\"group\":4294967295", "\"group\":4294967296"), HasSubstr("waited.group"));
  EXPECT_THAT(with("\"count\":536870910", "\"count\":536870911"), HasSubstr("waited.count"));
  EXPECT_THAT(with("\"count\":536870910", "\"count\":-1"), HasSubstr("waited.count"));
  EXPECT_THAT(with("\"modulus\": 65536", "\"modulus\": 0"), HasSubstr("counters.modulus"));
  for (const char* thread : {"", "x", "41822 ", "-", "0x1", "9223372036854775808"})
    EXPECT_THAT(with("\"thread\":\"41822\"", fmt::format("\"thread\":\"{}\"", thread)),
                HasSubstr("blocked_in[0].thread"));
  EXPECT_THAT(with("\"end\": \"no_cfi\"", "\"end\": \"tired\""), HasSubstr("stacks[0].end"));
  EXPECT_THAT(with("\"0xffffffffffffffff\"", "\"0x1ffffffffffffffff\""), HasSubstr("].id"));
  EXPECT_THAT(with("\"0xffffffffffffffff\"", "\"0x\""), HasSubstr("].id"));
  EXPECT_THAT(with("\"0xffffffffffffffff\"", "\"4096\""), HasSubstr("].id"));
}

TEST(DocumentReader, RunsThatLieAreAnError) {
  const auto line = written([](const Sink& sink) {
    Dump dump = ring_dump(1);
    dump.ranks[0].communicators[0].group = {4711};
    write_ndjson_rank(dump.ranks[0], without_raw, sink);
  });
  const std::string_view run = "[4711,4711,1]";
  const auto at = line.find(run);
  ASSERT_NE(at, std::string::npos);
  for (const char* lie :
       {"[0,3,0]", "[0,3,-1]", "[3,0,1]", "[0,3,2]", "[0,3]", "[0,3,1,1]", "[0,3.0,1]", "3", "{}",
        "[-9223372036854775808,9223372036854775807,1]", "[0,18446744073709551615,1]"}) {
    auto changed = line;
    const auto result = read_line(changed.replace(at, run.size(), lie));
    ASSERT_FALSE(result) << lie;
    EXPECT_THAT(result.error().message, HasSubstr("communicators[0].group[0]")) << lie;
  }
  auto endless = line;
  const auto result = read_line(endless.replace(at, run.size(), "[0,9223372036854775806,1]"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "document.limit");
}

/// Marks that stand for operations in the reader's tree come from no text.
TEST(DocumentReader, ARunMayCrossAllNumbers) {
  const auto line = written([](const Sink& sink) {
    Dump dump = ring_dump(1);
    dump.ranks[0].communicators[0].group = {4711};
    write_ndjson_rank(dump.ranks[0], without_raw, sink);
  });
  const std::string_view run = "[4711,4711,1]";
  auto changed = line;
  const auto result =
      read_line(changed.replace(line.find(run), run.size(),
                                "[-9000000000000000000,9000000000000000000,9000000000000000000]"));
  ASSERT_TRUE(result) << message_of(result);
  const auto& group = std::get<RankDump>(*result).communicators[0].group;
  ASSERT_TRUE(group);
  EXPECT_EQ(*group,
            (std::vector<std::int64_t>{-9'000'000'000'000'000'000, 0, 9'000'000'000'000'000'000}));
}

TEST(DocumentReader, OperationsOfAnotherTypeTakeNobodyElses) {
  const auto line = written(
      [](const Sink& sink) { write_ndjson_rank(ring_dump(2).ranks[1], without_raw, sink); });
  const std::string_view receive = R"("receive":{"state":"available","error":null,"operations":[)";
  const auto begin = line.find(receive) + receive.size() - 1;
  const auto end = line.find("],\"reason\"", begin) + 1;
  for (const char* other : {"0", "null", "{}", "\"0\"", "[[0]]", "[{\"operations\":[]}]"}) {
    auto changed = line;
    const auto result = read_line(changed.replace(begin, end - begin, other));
    ASSERT_FALSE(result) << other;
    EXPECT_THAT(result.error().message, HasSubstr("operations")) << other;
  }
}

TEST(DocumentReader, EveryCutIsAnError) {
  const auto text = text_of(rich_dump());
  constexpr std::size_t step = 31; // falls on each place of a line, sooner or later
  for (std::size_t length = 0; length + 1 < text.size(); length += step) {
    const auto result = read(text.substr(0, length));
    ASSERT_FALSE(result) << length;
    EXPECT_EQ(result.error().code, "document.syntax");
  }
}

TEST(DocumentReader, WhatIsNoDumpIsAnError) {
  const std::string deep(100'000, '[');
  for (const auto& [text, code] : std::vector<std::pair<std::string, std::string>>{
           {"", "document.syntax"},
           {"hello", "document.syntax"},
           {"{} {}", "document.syntax"},
           {"\xff\xfe", "document.syntax"},
           {"{}", "document.field"},
           {"[]", "document.field"},
           {"null", "document.field"},
           {deep, "document.field"},
           {R"({"schema": "mqbridge.dump/1", "schema": "mqbridge.dump/1"})", "document.field"},
           {R"({"operations": [3]})", "document.field"},
           {R"({"ranks": [3]})", "document.field"}}) {
    const auto result = read(text);
    ASSERT_FALSE(result) << text.substr(0, 40);
    EXPECT_EQ(result.error().code, code) << text.substr(0, 40);
    EXPECT_LT(result.error().message.size(), 1000U);
    EXPECT_FALSE(result.error().hint.empty());
  }
}

TEST(DocumentReader, ATextWithoutEndTakesNoMemory) {
  const std::string text = R"({"schema": ")" + std::string(40 << 20, 'x');
  std::istringstream in(text);
  DocumentReader reader(enough);
  const auto result = reader.document(in);
  ASSERT_FALSE(result);
  EXPECT_LT(in.tellg(), 20 << 20) << "so much of it was taken";
}

TEST(DocumentReader, ReadsNoMoreThanItMayKeep) {
  const auto text = text_of(sample_dump());
  const auto result = read(text, 100'000); // a thousand operations
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "document.limit");
  EXPECT_TRUE(read(text, 1'000'000));
}

/// Runs are unfolded: a few kilobytes of them would take gigabytes.
TEST(DocumentReader, RunsOfAShortDocumentTakeNoGigabytes) {
  Dump dump = ring_dump(1);
  auto& communicators = dump.ranks[0].communicators;
  const auto with_groups = [&](std::size_t count, std::int64_t members) {
    communicators.resize(1);
    communicators.resize(count, communicators[0]);
    std::vector<std::int64_t> group(static_cast<std::size_t>(members));
    std::iota(group.begin(), group.end(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      group.front() = -1 - static_cast<std::int64_t>(i); // no two are equal
      communicators[i].group = group;
    }
    return text_of(dump, without_raw);
  };
  constexpr std::int64_t most_ranks = 1'000'000;
  const auto few = with_groups(7, most_ranks);
  EXPECT_EQ(message_of(read(few)), "no error");
  const auto many = with_groups(30, most_ranks);
  ASSERT_LT(many.size(), 60'000U);
  EXPECT_THAT(message_of(read(many)), HasSubstr("document.limit"));
}

/// Of a job's ranks that are read one after the other, each keeps its counters.
TEST(DocumentReader, CountersOfMessagesAreKeptAndCounted) {
  Dump dump = ring_dump(200);
  for (RankDump& rank : dump.ranks) {
    rank.communicators[0].group.reset();
    MessageCounters& counters = rank.communicators[0].counters.emplace();
    counters.modulus = 65536;
    counters.peers.assign(500, {1, 2, 3});
  }
  const auto text = text_of(dump, without_raw);
  const auto bytes = dump.ranks.size() * 500 * sizeof(PeerCounters);
  EXPECT_THAT(message_of(read(text, bytes)), HasSubstr("document.limit"));
  EXPECT_EQ(message_of(read(text, 2 * bytes)), "no error");
}

/// A line that was refused costs those behind it nothing.
TEST(DocumentReader, GoesOnBehindABadLine) {
  const auto good = written(
      [](const Sink& sink) { write_ndjson_rank(ring_dump(1).ranks[0], without_raw, sink); });
  const auto bad = good.substr(0, good.size() - 3);
  DocumentReader reader(20'000);
  for (int i = 0; i < 100; ++i)
    ASSERT_FALSE(reader.line(bad));
  const auto read = reader.line(good);
  EXPECT_TRUE(read) << message_of(read);
}

} // namespace
} // namespace mqbridge::test
