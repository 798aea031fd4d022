#include "host/document/json_report.h"
#include "host/mpi/mpi_support.h"
#include "tests/document/json_schema.h"
#include "tests/document/rich_dump.h"
#include "tests/document/sample_dump.h"
#include "tests/document/sample_handles.h"
#include "tests/document/sample_variables.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace mqbridge::test {
namespace {

using nlohmann::json;

json schema_document() {
  return read_json(MQBRIDGE_SCHEMA);
}

/// The schema of a line, with what it names of the document's within itself: valijson does not
/// follow references from one fetched document to another.
json line_schema_document() {
  std::ifstream file(MQBRIDGE_LINE_SCHEMA);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string other = "dump.schema.json#";
  for (auto at = text.find(other); at != std::string::npos; at = text.find(other, at))
    text.replace(at, other.size(), "#");
  json schema = json::parse(text);
  const json document = schema_document();
  for (const auto& [name, definition] : document["$defs"].items()) {
    EXPECT_FALSE(schema["$defs"].contains(name)) << name << " means two things";
    schema["$defs"][name] = definition;
  }
  return schema;
}

class Schema : public testing::Test {
protected:
  explicit Schema(const json& text = schema_document()) : schema_(text) {}

  std::string complaint(const json& document) { return schema_.complaint(document); }

  static json document(Dump dump, bool raw = false) {
    for (RankDump& rank : dump.ranks) // a thousand alike prove no more than three, and take seconds
      for (Communicator& communicator : rank.communicators)
        for (Queue& queue : communicator.queues)
          queue.operations.truncate(std::min<std::size_t>(queue.operations.size(), 3));
    const JsonOptions options{.tool_version = "0.1.0", .raw = raw};
    return json::parse(written([&](const Sink& sink) { write_json(dump, options, sink); }));
  }

private:
  JsonSchema schema_;
};

TEST_F(Schema, UsesOnlyWhatTheValidatorChecks) {
  EXPECT_THAT(unchecked_words(schema_document()), testing::IsEmpty());
  EXPECT_THAT(unchecked_words(line_schema_document()), testing::IsEmpty());
}

TEST_F(Schema, ReportsAreValid) {
  EXPECT_EQ(complaint(document(Dump{})), "");
  EXPECT_EQ(complaint(document(sample_dump())), "");
  EXPECT_EQ(complaint(document(sample_dump(), true)), "");
  EXPECT_EQ(complaint(document(ring_dump(20))), "");
  EXPECT_EQ(complaint(document(rich_dump(), true)), "");
  Dump dump = sample_dump();
  dump.errors = dump.ranks[2].errors;
  EXPECT_EQ(complaint(document(dump)), "");
  dump.analysis = Analysis{};
  EXPECT_EQ(complaint(document(dump)), "");
  dump.analysis = rich_analysis();
  EXPECT_EQ(complaint(document(dump)), "");
  dump.variable_differences = {rich_differences()};
  dump.unexpected_lengths = rich_lengths();
  EXPECT_EQ(complaint(document(dump)), "");
}

TEST_F(Schema, EveryKnownMpiIsInTheSchema) {
  Dump dump = sample_dump();
  ASSERT_TRUE(dump.ranks[0].dll);
  for (const auto* mpi : known_mpis()) {
    dump.ranks[0].dll->provider = mpi->facts().provider;
    EXPECT_EQ(complaint(document(dump)), "") << mpi->facts().provider;
  }
}

TEST_F(Schema, EveryWordOfAnAnalysisIsInTheSchema) {
  Dump dump = ring_dump(1);
  Analysis& analysis = dump.analysis.emplace(rich_analysis());
  const auto valid = [&] { return complaint(document(dump)); };
  for (const auto verdict : {Verdict::deadlock, Verdict::no_deadlock, Verdict::undecided}) {
    analysis.verdict = verdict;
    EXPECT_EQ(valid(), "");
  }
  for (const auto confidence : {Confidence::possible, Confidence::likely, Confidence::certain}) {
    analysis.confidence = confidence;
    EXPECT_EQ(valid(), "");
  }
  for (const auto mode : {WaitsFor::all, WaitsFor::any}) {
    analysis.waits[0].mode = mode;
    EXPECT_EQ(valid(), "");
  }
  for (int change = 0; change <= static_cast<int>(RankChange::unknown); ++change) {
    analysis.changes->ranks[0].change = static_cast<RankChange>(change);
    EXPECT_EQ(valid(), "");
  }
  for (int kind = 0; kind <= static_cast<int>(FindingKind::unknown_wait); ++kind) {
    analysis.findings[0].kind = static_cast<FindingKind>(kind);
    EXPECT_EQ(valid(), "");
  }
}

/// An earlier look has the ranks of a document, but for their statistics.
TEST_F(Schema, EarlierRanksAreRanks) {
  json text = document(rich_dump());
  json& ranks = text["earlier"][0]["ranks"];
  for (json& rank : ranks) {
    ASSERT_FALSE(rank.contains("statistics"));
    rank["statistics"] = text["ranks"][0]["statistics"];
    text["ranks"].push_back(rank);
  }
  EXPECT_EQ(complaint(text), "");
}

/// The validator must see faults at every depth, else the tests above prove nothing.
TEST_F(Schema, FaultsAreRefused) {
  struct Fault {
    const char* what;
    std::function<void(json&)> make;
  };
  const auto operation = [](json& d) -> json& {
    return d["ranks"][0]["communicators"][0]["queues"]["send"]["operations"][0];
  };
  const std::vector<Fault> faults = {
      {"schema missing", [](json& d) { d.erase("schema"); }},
      {"schema of another version", [](json& d) { d["schema"] = "mqbridge.dump/2"; }},
      {"tool without version", [](json& d) { d["tool"].erase("version"); }},
      {"ranks no array", [](json& d) { d["ranks"] = 3; }},
      {"rank without endpoint", [](json& d) { d["ranks"][0].erase("endpoint"); }},
      {"unknown rank status", [](json& d) { d["ranks"][0]["status"] = "fine"; }},
      {"pid no integer", [](json& d) { d["ranks"][0]["pid"] = "41822"; }},
      {"pointer size 6", [](json& d) { d["ranks"][0]["platform"]["pointer_size"] = 6; }},
      {"unknown byte order", [](json& d) { d["ranks"][0]["platform"]["byte_order"] = "middle"; }},
      {"error without hint", [](json& d) { d["ranks"][2]["errors"][0].erase("hint"); }},
      {"error of no rank without level",
       [](json& d) {
         d["errors"] = {{{"code", "x"}}};
       }},
      {"unknown level", [](json& d) { d["ranks"][2]["errors"][0]["level"] = "info"; }},
      {"statistics without fetches", [](json& d) { d["ranks"][0]["statistics"].erase("fetches"); }},
      {"unknown phase",
       [](json& d) { d["ranks"][0]["statistics"]["phases"][0]["name"] = "lunch"; }},
      {"communicator id no address",
       [](json& d) { d["ranks"][0]["communicators"][0]["id"] = "55905000"; }},
      {"group of pairs",
       [](json& d) { d["ranks"][0]["communicators"][0]["group"] = json::parse("[[0,2]]"); }},
      {"queue missing",
       [](json& d) { d["ranks"][0]["communicators"][0]["queues"].erase("unexpected"); }},
      {"unknown queue state",
       [](json& d) { d["ranks"][0]["communicators"][0]["queues"]["send"]["state"] = "empty"; }},
      {"operation without tag", [&](json& d) { operation(d).erase("tag"); }},
      {"unknown operation status", [&](json& d) { operation(d)["status"] = "done"; }},
      {"buffer a number", [&](json& d) { operation(d)["buffer"] = 4096; }},
      {"buffer in upper case", [&](json& d) { operation(d)["buffer"] = "0XAB"; }},
      {"unit unknown", [&](json& d) { operation(d)["length"]["unit"] = "words"; }},
      {"unknown source", [&](json& d) { operation(d)["source"] = "rumour"; }},
      {"unknown protocol", [&](json& d) { operation(d)["protocol"] = "pigeon"; }},
      {"waited without group",
       [&](json& d) {
         operation(d)["waited"] = {{"mode", "all"}, {"count", 1}};
       }},
      {"unknown thread level", [](json& d) { d["ranks"][0]["thread_level"] = "some"; }},
      {"counters without modulus",
       [](json& d) {
         d["ranks"][0]["communicators"][0]["counters"] = {{"peers", json::array()}};
       }},
      {"counters of no peer",
       [](json& d) {
         d["ranks"][0]["communicators"][0]["counters"] = {
             {"modulus", 65536}, {"peers", json::array({{{"sent", 1}, {"arrived", 1}}})}};
       }},
      {"stack without frames", [](json& d) { d["ranks"][0]["stacks"][0].erase("frames"); }},
      {"stack that ends for no known reason",
       [](json& d) { d["ranks"][0]["stacks"][0]["end"] = "tired"; }},
      {"frame without address",
       [](json& d) { d["ranks"][0]["stacks"][0]["frames"][0].erase("address"); }},
      {"blocked thread by number", [](json& d) { d["ranks"][0]["blocked_in"][0]["thread"] = 1; }},
      {"blocked without call", [](json& d) { d["ranks"][0]["blocked_in"][0].erase("call"); }},
      {"unknown verdict", [](json& d) { d["analysis"]["verdict"] = "guilty"; }},
      {"unknown kind of finding", [](json& d) { d["analysis"]["findings"][0]["kind"] = "fate"; }},
      {"wait for one number", [](json& d) { d["analysis"]["waits"][0]["for"] = {1}; }},
      {"analysis without what was not visible",
       [](json& d) { d["analysis"].erase("not_visible"); }},
      {"unknown change", [](json& d) { d["analysis"]["changes"]["ranks"][0]["change"] = "fell"; }},
      {"operation that is gone from no queue",
       [](json& d) { d["analysis"]["changes"]["ranks"][0]["gone"][0].erase("queue"); }},
      {"earlier look without time", [](json& d) { d["earlier"][0].erase("taken_at"); }},
      {"earlier rank without status", [](json& d) { d["earlier"][0]["ranks"][0].erase("status"); }},
      {"six lines of text",
       [&](json& d) {
         operation(d)["text"] = json::array({"", "", "", "", "", ""});
       }},
  };
  for (const Fault& fault : faults) {
    Dump dump = sample_dump();
    dump.ranks[0].stacks = std::vector{ThreadStack{.thread = 1, .frames = {StackFrame{}}}};
    dump.ranks[0].blocked_in = std::vector{BlockedCall{.thread = 1}};
    dump.analysis = rich_analysis();
    dump.earlier = {{"2026-11-05T07:59:58Z", ring_dump(1).ranks}};
    json broken = document(dump);
    ASSERT_EQ(complaint(broken), "");
    fault.make(broken);
    EXPECT_NE(complaint(broken), "") << fault.what;
  }
}

class LineSchema : public Schema {
protected:
  LineSchema() : Schema(line_schema_document()) {}

  /// The lines of a dump, parsed.
  static std::vector<json> lines(const Dump& dump) {
    const JsonOptions options{.tool_version = "0.1.0"};
    std::vector<json> parsed;
    const Sink sink = [&](std::string_view line) { parsed.push_back(json::parse(line)); };
    write_ndjson_header(dump, options, sink);
    for (const RankDump& rank : dump.ranks)
      write_ndjson_rank(rank, options, sink);
    for (const EarlierLook& look : dump.earlier)
      for (const RankDump& rank : look.ranks)
        write_ndjson_earlier(rank, look.taken_at, options, sink);
    write_ndjson_summary(dump, sink);
    return parsed;
  }
};

TEST_F(LineSchema, EveryLineOfADumpIsValid) {
  Dump dump = sample_dump();
  dump.ranks[1].communicators[0].queue(OpClass::receive).operations.truncate(3);
  dump.earlier = {{"2026-11-05T07:59:58Z", ring_dump(1).ranks}};
  dump.analysis = rich_analysis();
  const auto all = lines(dump);
  ASSERT_EQ(all.size(), 6U);
  for (const json& line : all)
    EXPECT_EQ(complaint(line), "") << line["type"];
}

TEST_F(LineSchema, FaultsAreRefused) {
  Dump dump = ring_dump(1);
  dump.earlier = {{"2026-11-05T07:59:58Z", ring_dump(1).ranks}};
  dump.analysis = rich_analysis();
  const auto all = lines(dump);
  for (const json& line : all) {
    json broken = line;
    broken["type"] = "other";
    EXPECT_NE(complaint(broken), "");
    broken.erase("type");
    EXPECT_NE(complaint(broken), "");
  }
  json rank = all[1];
  rank["status"] = "fine";
  EXPECT_NE(complaint(rank), "") << "what the document's schema refuses";
  rank = all[1];
  rank["communicators"][0]["queues"].erase("send");
  EXPECT_NE(complaint(rank), "");
  json earlier = all[2];
  earlier.erase("communicators");
  EXPECT_NE(complaint(earlier), "");
  json summary = all[3];
  summary["ranks"].erase("failed");
  EXPECT_NE(complaint(summary), "");
  summary = all[3];
  summary["analysis"]["core"] = 3;
  EXPECT_NE(complaint(summary), "");
  summary = all[3];
  summary["errors"] = {{{"code", "x"}}};
  EXPECT_NE(complaint(summary), "");
  json header = all[0];
  header.erase("tool");
  EXPECT_NE(complaint(header), "");
}

} // namespace
} // namespace mqbridge::test
