#include "host/document/read_parts.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace mqbridge {
namespace {

using nlohmann::json;

constexpr auto least_int = std::numeric_limits<std::int32_t>::min();
constexpr auto most_int = std::numeric_limits<std::int32_t>::max();

std::optional<Platform> read_platform(const Fields& rank) {
  if (rank.is_null("platform"))
    return std::nullopt;
  const Fields fields(rank, "platform");
  Platform platform;
  platform.architecture = fields.text("architecture");
  platform.byte_order = fields.word<ByteOrder>("byte_order");
  const auto size = fields.integer("pointer_size");
  if (size != 4 && size != 8)
    fields.complain("pointer_size", "4 or 8");
  platform.set_data_model(size == 4 ? DataModel::ilp32 : DataModel::lp64);
  return platform;
}

std::optional<DllInfo> read_dll(const Fields& rank) {
  if (rank.is_null("dll"))
    return std::nullopt;
  const Fields fields(rank, "dll");
  return DllInfo{fields.text("path"), fields.text("version"),
                 static_cast<int>(fields.integer("compatibility", least_int, most_int)),
                 fields.text("provider")};
}

std::optional<MpiInfo> read_mpi(const Fields& rank) {
  if (rank.is_null("mpi"))
    return std::nullopt;
  const Fields fields(rank, "mpi");
  return MpiInfo{fields.text("name"),
                 fields.maybe_text("version"),
                 fields.maybe_text("build_id"),
                 fields.maybe_text("transport"),
                 fields.word_or("state", MpiState::unknown),
                 fields.maybe_text("types_source"),
                 fields.word_or("types_match", TypesMatch::unknown),
                 rank.word_or("thread_level", ThreadLevel::unknown)};
}

std::vector<Phase> read_phases(const Fields& statistics) {
  std::vector<Phase> phases;
  statistics.each("phases", [&](const json& element, const Place& place) {
    const Fields phase(element, place, statistics.state());
    phases.push_back({phase.word<PhaseName>("name"), phase.number("elapsed_ms"),
                      phase.count("round_trips"), phase.count("bytes")});
    statistics.state().spend(sizeof(Phase));
  });
  return phases;
}

Statistics read_statistics(const Fields& rank) {
  const Fields fields(rank, "statistics");
  Statistics statistics;
  statistics.round_trips = fields.count("round_trips");
  statistics.requests = fields.count("requests");
  statistics.bytes_received = fields.count("bytes_received");
  statistics.bytes_sent = fields.count("bytes_sent");
  statistics.fetches = fields.count("fetches");
  statistics.fetch_bytes = fields.count("fetch_bytes");
  statistics.elapsed_ms = fields.number("elapsed_ms");
  statistics.pages_touched = fields.maybe_count("pages_touched");
  statistics.pages_read = fields.maybe_count("pages_read");
  statistics.rtt_us = fields.maybe_number("rtt_us");
  statistics.bandwidth_bps = fields.maybe_number("bandwidth_bps");
  statistics.phases = read_phases(fields);
  return statistics;
}

std::vector<Joint> read_joints(const Fields& rank) {
  std::vector<Joint> joints;
  if (rank.is_null("joints"))
    return joints;
  rank.each("joints", [&](const json& element, const Place& place) {
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    const Fields fields(element, place, rank.state());
    Joint& joint = joints.emplace_back();
    joint.id = fields.address("id").value;
    joint.base = fields.address("base").value;
    joint.path = fields.address("path").value;
    joint.sequence = static_cast<std::uint32_t>(fields.integer("sequence", 0, most));
    joint.call = fields.text("call");
    joint.size = fields.integer("size");
    joint.remote_size = fields.integer("remote_size");
    joint.mark = fields.text("mark");
    joint.began = static_cast<std::uint64_t>(fields.integer("began_us", 0));
    joint.ended = static_cast<std::uint64_t>(fields.integer("ended_us", 0));
    fields.state().spend(sizeof(Joint) + joint.call.size() + joint.mark.size());
  });
  return joints;
}

RankDump read_members(const Fields& fields, const TakeOperations& take, bool statistics) {
  ReadState& state = fields.state();
  RankDump rank;
  state.spend(sizeof(RankDump));
  if (const auto number = fields.maybe_integer("rank", 0, most_int))
    rank.rank = static_cast<int>(*number);
  rank.endpoint = fields.text("endpoint");
  rank.host = fields.maybe_text("host");
  rank.pid = fields.maybe_integer("pid");
  rank.executable = fields.maybe_text("executable");
  rank.platform = read_platform(fields);
  rank.status = fields.word<RankStatus>("status");
  rank.errors = read_errors(fields, "errors");
  rank.dll = read_dll(fields);
  fields.each("communicators", [&](const json& element, const Place& at) {
    rank.communicators.push_back(read_communicator(element, at, take, state));
  });
  rank.stopped_ms = fields.maybe_number("stopped_ms");
  if (statistics)
    rank.statistics = read_statistics(fields);
  rank.rank_source = fields.word_or("rank_source", RankSource::unknown);
  rank.mpi = read_mpi(fields);
  rank.stopped_at = fields.maybe_text("stopped_at");
  rank.world_rank = fields.maybe_integer("world_rank");
  rank.world_size = fields.maybe_integer("world_size");
  rank.job_id = fields.maybe_text("job_id");
  rank.stopped_before_us = fields.flag("stopped_before_us");
  rank.process_state = fields.maybe_text("process_state");
  rank.blocked_in = read_blocked_in(fields);
  rank.stacks = read_stacks(fields);
  rank.variables = read_variables(fields);
  rank.joints = read_joints(fields);
  rank.handles = read_handles(fields);
  return rank;
}

} // namespace

std::vector<RankError> read_errors(const Fields& fields, std::string_view key) {
  std::vector<RankError> errors;
  fields.each(key, [&](const json& element, const Place& place) {
    const Fields error(element, place, fields.state());
    errors.push_back({error.text("code"), error.word<RankError::Level>("level"),
                      error.text("message"), error.maybe_text("hint").value_or("")});
    const auto& read = errors.back();
    fields.state().spend(sizeof(RankError) + read.code.size() + read.message.size() +
                         read.hint.size());
  });
  return errors;
}

RankDump read_rank(const json& value, const Place& place, const TakeOperations& take,
                   ReadState& state) {
  return read_members(Fields(value, place, state), take, true);
}

RankDump read_earlier_rank(const json& value, const Place& place, const TakeOperations& take,
                           ReadState& state) {
  return read_members(Fields(value, place, state), take, false);
}

} // namespace mqbridge
