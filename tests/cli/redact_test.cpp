// The filter on docs/sending-reports.md that takes the names of a site out of a document.

#include "host/document/json_report.h"
#include "tests/cli/program.h"
#include "tests/document/json_schema.h"
#include "tests/document/rich_dump.h"
#include "tests/document/sample_dump.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

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

class Redact : public testing::Test {
protected:
  void SetUp() override {
    MQBRIDGE_SKIP_IF_LACKING(lacking_program("jq", "jq"));
    const auto page = read_file(MQBRIDGE_SOURCE_DIRECTORY "/docs/sending-reports.md");
    const auto begin = page.find("```\n", page.find("**redact.jq**")) + 4;
    write_file(folder_ / "redact.jq", page.substr(begin, page.find("```", begin) - begin));
  }

  /// Writes hang.json, and send.json by the page's own line.
  json sent(const Dump& dump) {
    const JsonOptions options{.tool_version = "0.1.0", .raw = true};
    auto document =
        json::parse(written([&](const Sink& sink) { write_json(dump, options, sink); }));
    name_the_site(document, named_);
    write_file(folder_ / "hang.json", document.dump());
    const Ran jq = in_folder("jq -f redact.jq hang.json >send.json");
    EXPECT_EQ(jq.status, 0) << jq.err;
    return json::parse(read_file(folder_ / "send.json"), nullptr, false);
  }

  Ran in_folder(const std::string& command) const {
    return run(fmt::format("cd {} && {}", folder_.path().string(), command));
  }

  TemporaryFolder folder_;
  std::set<std::string> named_;
};

TEST_F(Redact, LeavesNoNameOfTheSiteInAnyMember) {
  Dump dump = rich_dump();
  dump.analysis = rich_analysis();
  // Before jq 1.7 its numbers have 53 bits. No real queue is longer.
  for (auto* ranks : {&dump.ranks, &dump.earlier[0].ranks})
    for (Queue& queue : ranks->front().communicators[0].queues)
      queue.total = 4;
  const json document = sent(dump);
  EXPECT_EQ(named_.size(), names_in.size()) << testing::PrintToString(named_);
  for (const auto* name : {"anna", "login3", "example", "/home"})
    EXPECT_THAT(document.dump(1), Not(HasSubstr(name)));
  EXPECT_EQ(JsonSchema(read_json(MQBRIDGE_SOURCE_DIRECTORY "/docs/reference/dump.schema.json"))
                .complaint(document),
            "");
  EXPECT_EQ(document["ranks"][0]["host"], "node0");
  EXPECT_EQ(document["ranks"][0]["errors"][0]["message"], "walk.cut");
  EXPECT_EQ(document["ranks"][0]["stacks"][0]["frames"][1]["file"], "solve.c");
  const Ran read = in_folder("mqbridge analyze --full send.json");
  EXPECT_EQ(read.status, in_folder("mqbridge analyze --full hang.json").status);
  EXPECT_EQ(read.err, "");
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
  sent(dump);
  const Ran before = in_folder("mqbridge analyze hang.json");
  EXPECT_THAT(before.out, HasSubstr("VERDICT  DEADLOCK"));
  const Ran after = in_folder("mqbridge analyze send.json");
  EXPECT_EQ(after.status, before.status) << after.err;
  EXPECT_EQ(after.out, before.out);
}

} // namespace
} // namespace mqbridge::test
