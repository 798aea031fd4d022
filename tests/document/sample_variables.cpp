#include "tests/document/sample_variables.h"

#include "tests/document/sample_dump.h"

#include <utility>

namespace mqbridge::test {

Variable control(const std::string& name, VariableValue value, const std::string& set_by) {
  Variable variable;
  variable.name = name;
  variable.datatype = "MPI_INT";
  variable.verbosity = Verbosity::user_basic;
  variable.scope = VariableScope::readonly;
  variable.set_by = set_by;
  variable.readings = {{.value = std::move(value)}};
  return variable;
}

Variable performance(const std::string& name, VariableReading reading) {
  Variable variable;
  variable.kind = VariableKind::performance;
  variable.name = name;
  variable.datatype = "MPI_UNSIGNED";
  variable.verbosity = Verbosity::user_detail;
  variable.pvar_class = VariableClass::level;
  variable.readings = {std::move(reading)};
  return variable;
}

VariableValue number(std::int64_t value) {
  return std::vector<std::int64_t>{value};
}

RankDump rank_with(int rank, std::vector<Variable> variables) {
  RankDump dump = complete_rank(rank);
  dump.communicators.clear();
  dump.stacks.reset();
  dump.blocked_in.reset();
  dump.job_id.reset();
  dump.variables = ProcessVariables{.sources = {VariableSource::memory},
                                    .variables = std::move(variables),
                                    .categories = {},
                                    .enumerations = {},
                                    .listed_s = {}};
  return dump;
}

Dump dump_of(std::vector<RankDump> ranks) {
  Dump dump;
  dump.taken_at = "2026-11-05T08:00:00Z";
  dump.job_source = "targets";
  dump.job_size = static_cast<std::int64_t>(ranks.size());
  dump.filters.no_queues = true;
  dump.ranks = std::move(ranks);
  return dump;
}

ProcessVariables rich_variables() {
  Variable limit = control("eager \"limit\" \x1b", number(-3), "file /etc/a b.conf");
  limit.description = "two\nlines";
  limit.enumeration = 1;
  limit.binding = Binding::no_object;
  limit.scope = VariableScope::all_eq;
  limit.categories = {1, 0};
  Variable path = control("path", std::string("/usr:\xc3\xbc"), "command line");
  Variable unread = control("unread", number(0));
  unread.readings = {{.value = std::nullopt, .reason = "MPI_T_ERR_INVALID"}};
  Variable length =
      performance("length", {std::vector<std::uint64_t>{0, 18'446'744'073'709'551'615U}, "row",
                             0x8000000000000001, true, 0.25});
  length.binding = Binding::comm;
  length.readonly = true;
  length.continuous = false;
  length.atomic = true;
  length.readings.push_back({.value = std::vector<double>{0.5, 1e300}, .object = "col"});
  length.readings.push_back({.value = std::vector<std::int64_t>{}});
  ProcessVariables variables;
  variables.sources = {VariableSource::recorder, VariableSource::memory};
  variables.variables = {limit, path, unread, length};
  variables.categories = {{"btl", "byte \"transfer\"", {}}, {"btl_tcp", "TCP", {0}}};
  variables.enumerations = {{"empty", {}}, {"algorithm", {{-3, "ring"}, {4, "tree"}}}};
  variables.listed_s = 12.5;
  variables.whole = false;
  variables.total = 1143;
  return variables;
}

JobVariableDifferences rich_differences() {
  JobVariableDifferences job;
  job.job_id = "1:a";
  job.ranks = {0, 1};
  job.without = {2};
  job.compared = 1143;
  job.unread = 2;
  job.performance = 103;
  job.own = {"orte_ess_vpid"};
  job.addresses = {"at"};
  VariableDifference difference{.name = "limit", .scope = VariableScope::all_eq};
  difference.object = "row";
  difference.majority = true;
  difference.opinions = {{{0}, true, number(4), "tree", "file /etc/x"}, {{1}, false, std::nullopt}};
  difference.unknown = {2};
  job.differences = {difference};
  return job;
}

UnexpectedLengths rich_lengths() {
  UnexpectedLengths lengths;
  lengths.longer_than = 10;
  lengths.queues = {{0, "length", "row", 11, {3, 1}, true, 0.5}, {1, "length", "", 12}};
  lengths.counted = {0, 1};
  lengths.unknown = {2};
  return lengths;
}

} // namespace mqbridge::test
