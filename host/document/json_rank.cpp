#include "host/document/json_rank.h"

#include "host/document/names.h"
#include "host/dump/ranges.h"

#include <fmt/format.h>
#include <string_view>

namespace mqbridge {
namespace {

using Layout = JsonWriter::Layout;

void write_platform(JsonWriter& json, const std::optional<Platform>& platform) {
  if (!platform) {
    json.member("platform", nullptr);
    return;
  }
  json.key("platform").begin_object(Layout::one_line);
  json.member("architecture", platform->architecture);
  json.member("byte_order", name_of(platform->byte_order));
  json.member("pointer_size", platform->pointer_size);
  json.end();
}

void write_dll(JsonWriter& json, const std::optional<DllInfo>& dll) {
  if (!dll) {
    json.member("dll", nullptr);
    return;
  }
  json.key("dll").begin_object();
  json.member("path", dll->path);
  json.member("version", dll->version);
  json.member("compatibility", dll->compatibility);
  json.member("provider", dll->provider);
  json.end();
}

void write_mpi(JsonWriter& json, const std::optional<MpiInfo>& mpi) {
  if (!mpi) {
    json.member("mpi", nullptr);
    return;
  }
  json.key("mpi").begin_object();
  json.member("name", mpi->name);
  json.member("version", mpi->version);
  json.member("build_id", mpi->build_id);
  json.member("transport", mpi->transport);
  json.member("state", name_of(mpi->state));
  json.member("types_source", mpi->types_source);
  write_or_null(json, "types_match", name_of(mpi->types_match));
  json.end();
}

void write_phases(JsonWriter& json, const std::vector<Phase>& phases) {
  json.key("phases").begin_array();
  for (const Phase& phase : phases) {
    json.begin_object(Layout::one_line);
    json.member("name", name_of(phase.name));
    json.member("elapsed_ms", phase.elapsed_ms);
    json.member("round_trips", phase.round_trips);
    json.member("bytes", phase.bytes);
    json.end();
  }
  json.end();
}

void write_statistics(JsonWriter& json, const Statistics& statistics) {
  json.key("statistics").begin_object();
  json.member("round_trips", statistics.round_trips);
  json.member("requests", statistics.requests);
  json.member("bytes_received", statistics.bytes_received);
  json.member("bytes_sent", statistics.bytes_sent);
  json.member("fetches", statistics.fetches);
  json.member("fetch_bytes", statistics.fetch_bytes);
  json.member("elapsed_ms", statistics.elapsed_ms);
  json.member("pages_touched", statistics.pages_touched);
  json.member("pages_read", statistics.pages_read);
  json.member("rtt_us", statistics.rtt_us);
  json.member("bandwidth_bps", statistics.bandwidth_bps);
  write_phases(json, statistics.phases);
  json.end();
}

/// Nothing where it has met nobody.
void write_joints(JsonWriter& json, const std::vector<Joint>& joints) {
  if (joints.empty())
    return;
  json.key("joints").begin_array();
  for (const Joint& joint : joints) {
    json.begin_object(Layout::one_line);
    json.member("id", address_text(joint.id));
    json.member("base", address_text(joint.base));
    json.member("path", address_text(joint.path));
    json.member("sequence", std::int64_t{joint.sequence});
    json.member("call", joint.call);
    json.member("size", joint.size);
    json.member("remote_size", joint.remote_size);
    json.member("mark", joint.mark);
    json.member("began_us", joint.began);
    json.member("ended_us", joint.ended);
    json.end();
  }
  json.end();
}

} // namespace

void write_or_null(JsonWriter& json, std::string_view key, std::string_view text) {
  if (text.empty())
    json.member(key, nullptr);
  else
    json.member(key, text);
}

std::string address_text(std::uint64_t address) {
  return fmt::format("{:#x}", address);
}

void write_address(JsonWriter& json, std::string_view key,
                   const std::optional<TargetAddress>& address) {
  if (address)
    json.member(key, address_text(address->value));
  else
    json.member(key, nullptr);
}

void write_runs(JsonWriter& json, std::span<const std::int64_t> values) {
  write_runs(json, to_runs(values));
}

void write_runs(JsonWriter& json, const std::vector<Run>& runs) {
  json.begin_array(Layout::one_line);
  for (const Run& run : runs) {
    json.begin_array();
    json.value(run.first);
    json.value(run.last);
    json.value(run.step);
    json.end();
  }
  json.end();
}

void write_errors(JsonWriter& json, const std::vector<RankError>& errors) {
  json.key("errors").begin_array();
  for (const RankError& error : errors) {
    json.begin_object();
    json.member("code", error.code);
    json.member("level", name_of(error.level));
    json.member("message", error.message);
    write_or_null(json, "hint", error.hint);
    json.end();
  }
  json.end();
}

void write_rank_members(JsonWriter& json, const RankDump& rank, RankMembers members) {
  json.member("rank", rank.rank);
  json.member("endpoint", rank.endpoint);
  json.member("host", rank.host);
  json.member("pid", rank.pid);
  json.member("executable", rank.executable);
  write_platform(json, rank.platform);
  json.member("status", name_of(rank.status));
  write_errors(json, rank.errors);
  write_dll(json, rank.dll);
  json.key("communicators").begin_array();
  for (const Communicator& communicator : rank.communicators)
    write_communicator(json, communicator, members);
  json.end();
  json.member("stopped_ms", rank.stopped_ms);
  if (members.statistics)
    write_statistics(json, rank.statistics);
  write_or_null(json, "rank_source", name_of(rank.rank_source));
  write_mpi(json, rank.mpi);
  write_blocked_in(json, rank.blocked_in);
  json.member("stopped_at", rank.stopped_at);
  json.member("world_rank", rank.world_rank);
  json.member("world_size", rank.world_size);
  json.member("job_id", rank.job_id);
  json.member("stopped_before_us", rank.stopped_before_us);
  write_or_null(json, "thread_level",
                name_of(rank.mpi ? rank.mpi->thread_level : ThreadLevel::unknown));
  json.member("process_state", rank.process_state);
  write_stacks(json, rank.stacks);
  write_variables(json, rank.variables);
  write_joints(json, rank.joints);
  write_handles(json, rank.handles);
}

} // namespace mqbridge
