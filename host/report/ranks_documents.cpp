#include "host/report/ranks_documents.h"

#include "host/document/json_writer.h"
#include "host/document/names.h"
#include "host/report/fitted_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>

namespace mqbridge {
namespace {

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

constexpr std::array<std::string_view, 13> titles = {
    "kind", "job", "rank",       "rank_source", "target",  "node", "pid",
    "user", "mpi", "executable", "code",        "message", "hint"};

using Line = std::array<std::string, titles.size()>;

void write_line(const Line& cells, const Sink& sink) {
  std::string text;
  for (const std::string& cell : cells)
    text += tsv_escaped(cell) + '\t';
  text.back() = '\n';
  sink(text);
}

template <class T>
std::string number_text(const std::optional<T>& number) {
  return number ? fmt::to_string(*number) : "";
}

void write_trouble_lines(std::string_view kind, const std::vector<FindTrouble>& troubles,
                         const Sink& sink) {
  for (const FindTrouble& trouble : troubles)
    write_line({std::string(kind), "", "", "", "", trouble.node, "", "", "", "",
                std::string(trouble.error.code), trouble.error.message, trouble.error.hint},
               sink);
}

} // namespace

void write_json(const Findings& findings, std::string_view tool_version, const Sink& sink) {
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

void write_tsv(const Findings& findings, const Sink& sink) {
  Line header;
  std::copy(titles.begin(), titles.end(), header.begin());
  write_line(header, sink);
  for (const FoundJob& job : findings.jobs)
    for (const FoundRank& rank : job.ranks)
      write_line({"rank", job.name, number_text(rank.target.rank),
                  std::string(source_of_rank(rank)), rank.target.text(), rank.node,
                  number_text(rank.pid), rank.user, rank.mpi, rank.executable, "", "", ""},
                 sink);
  write_trouble_lines("fault", findings.faults, sink);
  write_trouble_lines("warning", findings.warnings, sink);
}

} // namespace mqbridge
