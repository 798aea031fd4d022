#include "host/launch/node_names.h"
#include "host/report/ranks_documents.h"
#include "host/report/text_ranks.h"
#include "tests/document/json_schema.h"
#include "tests/document/sample_dump.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace mqbridge::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string nodes(const std::vector<std::string>& names, std::size_t most = 8) {
  return node_list_text(names, most);
}

TEST(NodeNames, AreFoldedByTheirNumbers) {
  EXPECT_EQ(nodes({}), "");
  EXPECT_EQ(nodes({"n1"}), "n1");
  EXPECT_EQ(nodes({"n2", "n1", "n2"}), "n[1-2]");
  EXPECT_EQ(nodes({"n099", "n100", "n101", "n103"}), "n[099-101,103]");
  EXPECT_EQ(nodes({"n8", "n9", "n10", "n011"}), "n[8-10,011]");
  EXPECT_EQ(nodes({"r1n1.site.org", "r1n2.site.org", "r2n1.site.org"}),
            "r1n[1-2].site.org,r2n1.site.org");
  EXPECT_EQ(nodes({"10.0.0.1", "10.0.0.2", "login"}), "10.0.0.[1-2],login");
  EXPECT_EQ(nodes({"", "n1"}), "n1,this host");
  EXPECT_EQ(nodes({"n99999999999999999999999", "n99999999999999999999998"}),
            "n99999999999999999999998,n99999999999999999999999");
  EXPECT_EQ(nodes({"\x1b[2J1", "\x1b[2J2"}), "\\x1b[2J[1-2]");
}

TEST(NodeNames, OfManySomeAreSpelledOut) {
  std::vector<std::string> odd;
  for (int i = 1; i < 200; i += 2)
    odd.push_back(fmt::format("n{:03}", i));
  EXPECT_EQ(nodes(odd, 3), "n[001,003,005] and 97 more");
}

FoundRank found(int rank, const std::string& node, std::int64_t pid) {
  auto target = TargetSpec::parse(fmt::format("{}:{}@{}", node, 7001, pid)).value();
  target.rank = rank;
  target.rank_source = RankSource::proctable;
  return {target, node, pid, "/home/anna/solver", "anna", "Open MPI"};
}

FoundJob job_on(int ranks, int nodes_count) {
  FoundJob job{"1234.0", ranks, {"--slurm", "1234.0"}, {}};
  for (int i = 0; i < ranks; ++i)
    job.ranks.push_back(found(i, fmt::format("n{:03}", 17 + i / (ranks / nodes_count)), 4000 + i));
  return job;
}

std::string ranks_text(const FoundJobs& findings, const RanksTextOptions& options = {}) {
  auto text = written([&](const Sink& sink) { write_text(findings, options, sink); });
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    EXPECT_LE(line.size(), options.width) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
  return text;
}

TEST(Ranks, OfASmallJobHaveALineEach) {
  FoundJobs findings{{job_on(3, 3)}, {}, {}};
  findings.jobs[0].ranks[2].mpi = "MPICH";
  EXPECT_EQ(ranks_text(findings), R"(mqbridge ranks   1 job: 3 ranks on 3 nodes

Job 1234.0   3 ranks on 3 nodes
  user anna   ranks from proctable   /home/anna/solver
  dump it: mqbridge dump --slurm 1234.0
  RANK  NODE   PID  MPI       TARGET
     0  n017  4000  Open MPI  n017:7001@4000
     1  n018  4001  Open MPI  n018:7001@4001
     2  n019  4002  MPICH     n019:7001@4002
)");
}

TEST(Ranks, OfManyNodesAreFolded) {
  FoundJobs findings{{job_on(5000, 100)}, {}, {}};
  EXPECT_EQ(ranks_text(findings), R"(mqbridge ranks   1 job: 5000 ranks on 100 nodes

Job 1234.0   5000 ranks on 100 nodes
  Open MPI   user anna   ranks from proctable   /home/anna/solver
  dump it: mqbridge dump --slurm 1234.0
  NODES         N  RANKS EACH  RANKS
  n[017-116]  100          50  0-4999
)");
  const auto full = ranks_text(findings, {.full = true});
  EXPECT_THAT(full, HasSubstr("  4999  n116  8999  n116:7001@8999\n"));
  findings.jobs[0] = job_on(64, 2);
  EXPECT_THAT(ranks_text(findings), HasSubstr("  NODE   N  RANKS\n"
                                              "  n017  32  0-31\n"
                                              "  n018  32  32-63\n"));
}

TEST(Ranks, ThatAreMissingTwiceOrUnknownAreSaid) {
  FoundJobs findings{{job_on(6, 2)}, {}, {}};
  auto& job = findings.jobs[0];
  job.ranks[1].target.rank = 0;
  job.ranks[4].target.rank = std::nullopt;
  job.size = 8;
  const auto text = ranks_text(findings);
  EXPECT_THAT(text, AllOf(HasSubstr("Job 1234.0   6 of 8 ranks on 2 nodes\n"),
                          HasSubstr("  not found: rank 1,4,6,7\n"),
                          HasSubstr("  claimed by several processes: rank 0\n"),
                          HasSubstr("  1 process's rank is not known\n")));
  job.size = 1'000'000'000'000;
  EXPECT_THAT(ranks_text(findings), Not(HasSubstr("not found"))) << "a size that lies";
}

TEST(Ranks, AreDumpedByALineForAShell) {
  FoundJobs findings{{job_on(2, 2)}, {}, {}};
  auto& job = findings.jobs[0];
  job.arguments = {"--mpirun", "ssh:n1:7", "--node", "a b'c"};
  EXPECT_THAT(ranks_text(findings), HasSubstr("dump it: mqbridge dump --mpirun ssh:n1:7 --node "
                                              "'a b'\\''c'\n"));
  job.arguments.clear();
  EXPECT_THAT(ranks_text(findings),
              HasSubstr("dump it: mqbridge dump 0=n017:7001@4000 1=n018:7001@4001\n"));
  job.ranks[0].target.rank_source = RankSource::environ;
  EXPECT_THAT(ranks_text(findings), HasSubstr("mqbridge dump n017:7001@4000 1=n018:7001@4001\n"));
  EXPECT_THAT(ranks_text(findings, {.saved = "my ranks"}),
              HasSubstr("mqbridge dump --targets 'my ranks'\n"));
  job = job_on(64, 2);
  job.arguments.clear();
  EXPECT_THAT(ranks_text(findings, {.search = {"--node", "n017"}}),
              HasSubstr("dump it: mqbridge ranks --node n017 --save FILE && mqbridge dump "
                        "--targets FILE\n"));
}

TEST(Ranks, WhatCouldNotBeLookedAtIsFolded) {
  FoundJobs findings;
  for (int i = 17; i < 33; ++i) {
    const auto node = fmt::format("n{:03}", i);
    findings.faults.push_back(
        {node, {"ssh.denied", node + ": Permission denied", "ssh " + node + " true"}});
  }
  findings.faults.push_back({"", {"proc.denied", "environments of other users", "sudo"}, 3});
  findings.warnings.push_back({"n050", {"mpi.none", "\x1b]0;no MPI\x07", ""}, 1});
  EXPECT_EQ(ranks_text(findings), R"(mqbridge ranks   no rank of an MPI job was found

Not looked at: ranks may be missing
  n[017-032] (16 nodes)   ssh.denied
    n017: Permission denied
    fix: ssh n017 true
  this host   3 processes   proc.denied
    environments of other users
    fix: sudo

Doubtful
  n050   1 process   mpi.none
    \x1b]0;no MPI\x07
)");
}

TEST(Ranks, NamesFromNodesAreBoundedAndPrintable) {
  FoundJobs findings{{job_on(2, 2)}, {}, {}};
  auto& job = findings.jobs[0];
  job.name = std::string(5000, 'j') + "\x1b[31m";
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    job.ranks[i].node = std::string(300, 'n') + std::to_string(i);
    job.ranks[i].executable = "/" + std::string(4000, 'x') + std::to_string(i);
    job.ranks[i].user = "\xff\n" + std::to_string(i);
  }
  const auto text = ranks_text(findings, {.width = 160});
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), HasSubstr("\\xff\\x0a")));
  EXPECT_LT(text.size(), 2000U);
}

/// A job with all that is known of it, one of which nothing is, a fault and a warning.
FoundJobs all_kinds() {
  FoundJobs findings{{job_on(2, 2), FoundJob{}}, {}, {}};
  findings.jobs[1].ranks.emplace_back().target = TargetSpec::parse("exec:a\tb").value();
  findings.faults.push_back({"n1", {"ssh.denied", "no\tkey", "ssh-copy-id n1"}, 0});
  findings.warnings.push_back({"", {"rank.twice", "rank 0 twice", ""}, 2});
  return findings;
}

TEST(RanksJson, IsAsItsSchemaSays) {
  const auto schema = read_json(MQBRIDGE_RANKS_SCHEMA);
  EXPECT_THAT(unchecked_words(schema), testing::IsEmpty());
  const auto written_json = [](const FoundJobs& findings) {
    return nlohmann::json::parse(
        written([&](const Sink& sink) { write_json(findings, "0.1.0", sink); }));
  };
  JsonSchema valid(schema);
  EXPECT_EQ(valid.complaint(written_json({})), "");
  auto document = written_json(all_kinds());
  EXPECT_EQ(valid.complaint(document), "");
  EXPECT_EQ(document["jobs"][0]["arguments"], (nlohmann::json{"--slurm", "1234.0"}));
  EXPECT_EQ(document["jobs"][0]["ranks"][1]["rank"], 1);
  EXPECT_EQ(document["jobs"][0]["ranks"][1]["target"], "n018:7001@4001");
  EXPECT_EQ(document["jobs"][1]["ranks"][0]["pid"], nullptr);
  EXPECT_EQ(document["faults"][0]["hint"], "ssh-copy-id n1");
  EXPECT_EQ(document["warnings"][0]["processes"], 2);
  for (const char* member : {"rank", "target", "node"}) {
    auto broken = document;
    broken["jobs"][0]["ranks"][0].erase(member);
    EXPECT_NE(valid.complaint(broken), "") << member;
  }
}

TEST(RanksTsv, HasALineForEachRankAndTrouble) {
  EXPECT_EQ(written([&](const Sink& sink) { write_tsv(all_kinds(), sink); }),
            "kind\tjob\trank\trank_"
            "source\ttarget\tnode\tpid\tuser\tmpi\texecutable\tcode\tmessage\thint\n"
            "rank\t1234.0\t0\tproctable\tn017:7001@4000\tn017\t4000\tanna\tOpen "
            "MPI\t/home/anna/solver\t\t\t\n"
            "rank\t1234.0\t1\tproctable\tn018:7001@4001\tn018\t4001\tanna\tOpen "
            "MPI\t/home/anna/solver\t\t\t\n"
            "rank\t\t\t\texec:a\\tb\t\t\t\t\t\t\t\t\n"
            "fault\t\t\t\t\tn1\t\t\t\t\tssh.denied\tno\\tkey\tssh-copy-id n1\n"
            "warning\t\t\t\t\t\t\t\t\t\trank.twice\trank 0 twice\t\n");
}

} // namespace
} // namespace mqbridge::test
