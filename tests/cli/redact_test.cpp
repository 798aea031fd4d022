// --redact takes the names of a site out of a report in any format.

#include "host/document/json_report.h"
#include "tests/cli/program.h"
#include "tests/document/json_schema.h"
#include "tests/document/rich_dump.h"
#include "tests/document/sample_dump.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <map>
#include <set>

namespace mqbridge::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// Members whose values have names of the site in real documents, and what such a value begins
/// with.
const std::map<std::string, std::string> names_in = {
    {"host", "login3.example"},
    {"endpoint", "ssh:anna@login3.example"},
    {"job_id", "login3.example:"},
    {"mark", "tag#0$description#login3.example$port#39435$"},
    {"executable", "/home/anna/"},
    {"module", "/home/anna/"},
    {"file", "/home/anna/"},
    {"path", "/home/anna/"},
    {"dll", "/home/anna/"},
    {"types_source", "/home/anna/"},
    {"version", "package: Open MPI anna@login3.example Distribution, "},
    {"dll_version", "package: Open MPI anna@login3.example Distribution, "},
    {"message", "login3.example: cannot open /home/anna/"},
    {"hint", "ssh anna@login3.example "},
    {"error", "the connection to login3.example was lost: "},
};

/// `named`: the members that have got a name.
void name_the_site(json& value, std::set<std::string>& named) {
  if (value.is_object())
    for (const auto& [key, member] : value.items())
      if (const auto name = names_in.find(key); name != names_in.end() && member.is_string() &&
                                                !member.get<std::string>().empty() &&
                                                !member.get<std::string>().starts_with("0x")) {
        named.insert(key);
        member = name->second + member.get<std::string>();
      }
  if (value.is_structured())
    for (auto& part : value)
      name_the_site(part, named);
}

using namespace std::string_literals;

/// The document inside of a page.
constexpr const char* unpacked =
    " | sed -n 's/.*id=\"document\">\\([^<]*\\)<.*/\\1/p' | base64 -d | gunzip";

Dump without_settings() {
  Dump dump = rich_dump();
  for (auto* ranks : {&dump.ranks, &dump.earlier[0].ranks})
    for (RankDump& rank : *ranks)
      rank.variables.reset();
  return dump;
}

class Redact : public testing::Test {
protected:
  /// Writes hang.json, in which each member that can has a name of the site.
  void write_named(const Dump& dump) {
    const JsonOptions options{.tool_version = "0.1.0", .raw = true};
    auto document =
        json::parse(written([&](const Sink& sink) { write_json(dump, options, sink); }));
    name_the_site(document, named_);
    write_file(folder_ / "hang.json", document.dump());
  }

  Ran in_folder(const std::string& command) const {
    return run(fmt::format("cd {} && {}", folder_.path().string(), command));
  }

  TemporaryFolder folder_;
  std::set<std::string> named_;
};

TEST_F(Redact, LeavesNoNameOfTheSiteInAnyMember) {
  write_named(without_settings());
  EXPECT_EQ(named_.size(), names_in.size()) << testing::PrintToString(named_);
  for (const auto* format : {"text", "json", "ndjson", "tsv", "dot", "html"}) {
    const Ran shown = in_folder(fmt::format("mqbridge show --redact --full --format {} hang.json{}",
                                            format, format == "html"s ? unpacked : ""));
    EXPECT_EQ(shown.err, "") << format;
    EXPECT_THAT(shown.out, Not(testing::IsEmpty())) << format;
    for (const auto* name : {"anna", "login3", "example", "/home", "39435"})
      EXPECT_THAT(shown.out, Not(HasSubstr(name))) << format;
  }
}

TEST_F(Redact, WritesADocumentOfTheSchema) {
  write_named(without_settings());
  const auto document =
      json::parse(in_folder("mqbridge show --redact --format json hang.json").out);
  EXPECT_EQ(JsonSchema(read_json(MQBRIDGE_SOURCE_DIRECTORY "/docs/reference/dump.schema.json"))
                .complaint(document),
            "");
  const json& rank = document["ranks"][0];
  EXPECT_EQ(rank["host"], "host-1");
  EXPECT_EQ(rank["errors"][0]["code"], "walk.cut");
  EXPECT_EQ(rank["errors"][0]["message"], "(left out)");
  EXPECT_EQ(rank["stacks"][0]["frames"][1]["file"], "solve.c");
}

TEST_F(Redact, RefusesADocumentOfSettings) {
  write_named(rich_dump());
  const Ran shown = in_folder("mqbridge show --redact hang.json");
  EXPECT_EQ(shown.status, 2);
  EXPECT_EQ(shown.out, "");
}

TEST_F(Redact, KeepsTheVerdict) {
  Dump dump = ring_dump(3);
  for (RankDump& rank : dump.ranks) {
    rank.communicators[0].queue(OpClass::send) = available({});
    rank.blocked_in = {BlockedCall{.thread = 41822,
                                   .call = "MPI_Recv",
                                   .communicator = rank.communicators[0].id,
                                   .file = "ring.c",
                                   .line = 71}};
  }
  write_named(dump);
  const Ran before = in_folder("mqbridge analyze hang.json");
  EXPECT_THAT(before.out, HasSubstr("VERDICT  DEADLOCK"));
  for (const auto* after :
       {"mqbridge analyze --redact hang.json",
        "mqbridge show --redact --format json hang.json | mqbridge analyze -"}) {
    const Ran ran = in_folder(after);
    EXPECT_EQ(ran.status, before.status) << ran.err;
    EXPECT_EQ(ran.out, before.out);
  }
}

} // namespace
} // namespace mqbridge::test
