#include "host/report/ranks_documents.h"

#include "host/document/json_writer.h"
#include "host/document/names.h"
#include "host/report/tsv_line.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

using namespace std::string_view_literals;

/// A rank that is not known has no source.
std::string_view source_of_rank(const FoundRank& rank) {
  return rank.target.rank ? name_of(rank.target.rank_source) : "";
}

using Layout = JsonWriter::Layout;

/// Not known is null.
void write_text_member(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  if (text.empty())
    json.value(nullptr);
  else
    json.value(text);
}

void write_rank(JsonWriter& json, const FoundRank& rank) {
  json.begin_object(Layout::one_line);
  json.member("rank", rank.target.rank);
  write_text_member(json, "rank_source", source_of_rank(rank));
  json.member("target", rank.target.text());
  write_text_member(json, "node", rank.node);
  json.member("pid", rank.pid);
  write_text_member(json, "executable", rank.executable);
  write_text_member(json, "user", rank.user);
  write_text_member(json, "mpi", rank.mpi);
  json.end();
}

void write_job(JsonWriter& json, const FoundJob& job) {
  json.begin_object();
  write_text_member(json, "name", job.name);
  json.member("size", job.size);
  json.key("arguments").begin_array(Layout::one_line);
  for (const std::string& word : job.arguments)
    json.value(word);
  json.end();
  json.key("ranks").begin_array();
  for (const FoundRank& rank : job.ranks)
    write_rank(json, rank);
  json.end();
  json.end();
}

void write_troubles(JsonWriter& json, std::string_view name,
                    const std::vector<FindTrouble>& troubles) {
  json.key(name).begin_array();
  for (const FindTrouble& trouble : troubles) {
    json.begin_object(Layout::one_line);
    write_text_member(json, "node", trouble.node);
    json.member("code", trouble.error.code);
    json.member("message", trouble.error.message);
    json.member("hint", trouble.error.hint);
    json.member("processes", static_cast<std::uint64_t>(trouble.processes));
    json.end();
  }
  json.end();
}

constexpr std::array rank_columns = {
    "kind"sv, "job"sv, "rank"sv,       "rank_source"sv, "target"sv,  "node"sv, "pid"sv,
    "user"sv, "mpi"sv, "executable"sv, "code"sv,        "message"sv, "hint"sv};

using RanksTsvLine = TsvLine<rank_columns>;

void write_line(const FoundJob& job, const FoundRank& rank, const Sink& sink) {
  RanksTsvLine line("rank");
  line.set("job", job.name);
  line.set_number("rank", rank.target.rank);
  line.set("rank_source", source_of_rank(rank));
  line.set("target", rank.target.text());
  line.set("node", rank.node);
  line.set_number("pid", rank.pid);
  line.set("user", rank.user);
  line.set("mpi", rank.mpi);
  line.set("executable", rank.executable);
  line.write(sink);
}

void write_lines(std::string_view kind, const std::vector<FindTrouble>& troubles,
                 const Sink& sink) {
  for (const FindTrouble& trouble : troubles) {
    RanksTsvLine line(kind);
    line.set("node", trouble.node);
    line.set("code", trouble.error.code);
    line.set("message", trouble.error.message);
    line.set("hint", trouble.error.hint);
    line.write(sink);
  }
}

} // namespace

void write_json(const FoundJobs& findings, std::string_view tool_version, const Sink& sink) {
  JsonWriter json(sink, Layout::lines);
  json.begin_object();
  json.member("schema", "mqbridge.ranks/1");
  json.key("tool").begin_object(Layout::one_line);
  json.member("name", "mqbridge");
  json.member("version", tool_version);
  json.end();
  json.key("jobs").begin_array();
  for (const FoundJob& job : findings.jobs)
    write_job(json, job);
  json.end();
  write_troubles(json, "faults", findings.faults);
  write_troubles(json, "warnings", findings.warnings);
  json.end();
  json.end_line();
}

void write_tsv(const FoundJobs& findings, const Sink& sink) {
  write_titles(rank_columns, sink);
  for (const FoundJob& job : findings.jobs)
    for (const FoundRank& rank : job.ranks)
      write_line(job, rank, sink);
  write_lines("fault", findings.faults, sink);
  write_lines("warning", findings.warnings, sink);
}

} // namespace mqbridge
