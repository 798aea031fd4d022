#pragma once

#include "host/document/communicator_members.h"
#include "host/document/handle_members.h"
#include "host/document/stack_members.h"
#include "host/document/variable_members.h"
#include "host/dump/values/document.h"

namespace mqbridge {

void describe(auto& form, Platform& platform) {
  int pointer_size = platform.pointer_size;
  form.member("architecture", platform.architecture);
  form.member("byte_order", platform.byte_order);
  form.member("pointer_size", pointer_size, as_pointer_size);
  form.put(
      [&] { platform.set_data_model(pointer_size == 4 ? DataModel::ilp32 : DataModel::lp64); });
}

void describe(auto& form, RankError& error) {
  form.member("code", error.code);
  form.member("level", error.level);
  form.member("message", error.message);
  form.member("hint", error.hint, or_null);
}

void describe(auto& form, DllInfo& dll) {
  form.member("path", dll.path);
  form.member("version", dll.version);
  form.member("compatibility", dll.compatibility);
  form.member("provider", dll.provider);
}

/// But for thread_level, which is a member of the rank.
void describe(auto& form, MpiInfo& mpi) {
  form.member("name", mpi.name);
  form.member("version", mpi.version);
  form.member("build_id", mpi.build_id);
  form.member("transport", mpi.transport);
  form.member("state", mpi.state, MpiState::unknown);
  form.member("types_source", mpi.types_source);
  form.member("types_match", mpi.types_match, TypesMatch::unknown);
  form.member("unlisted_requests", mpi.unlisted_requests);
  form.member("progress", mpi.progress);
  form.member("waits_state", mpi.waits_state, if_known);
  form.member("waits_counted", mpi.waits_counted, if_known);
}

void describe(auto& form, Phase& phase) {
  form.member("name", phase.name);
  form.member("elapsed_ms", phase.elapsed_ms);
  form.member("round_trips", phase.round_trips);
  form.member("bytes", phase.bytes);
}

void describe(auto& form, Statistics& statistics) {
  form.member("round_trips", statistics.round_trips);
  form.member("requests", statistics.requests);
  form.member("bytes_received", statistics.bytes_received);
  form.member("bytes_sent", statistics.bytes_sent);
  form.member("fetches", statistics.fetches);
  form.member("fetch_bytes", statistics.fetch_bytes);
  form.member("elapsed_ms", statistics.elapsed_ms);
  form.member("pages_touched", statistics.pages_touched);
  form.member("pages_read", statistics.pages_read);
  form.member("rtt_us", statistics.rtt_us);
  form.member("bandwidth_bps", statistics.bandwidth_bps);
  form.list("phases", statistics.phases, one_line);
}

void describe(auto& form, Joint& joint) {
  form.member("id", joint.id, as_address);
  form.member("base", joint.base, as_address);
  form.member("path", joint.path, as_address);
  form.member("sequence", joint.sequence);
  form.member("call", joint.call);
  form.member("size", joint.size);
  form.member("remote_size", joint.remote_size);
  form.member("mark", joint.mark);
  form.member("began_us", joint.began);
  form.member("ended_us", joint.ended);
}

void describe(auto& form, RankDump& rank) {
  form.member("rank", rank.rank, Within{0, std::numeric_limits<std::int32_t>::max()});
  form.member("endpoint", rank.endpoint);
  form.member("host", rank.host);
  form.member("pid", rank.pid);
  form.member("executable", rank.executable);
  form.object("platform", rank.platform, one_line);
  form.member("status", rank.status);
  form.list("errors", rank.errors);
  form.object("dll", rank.dll);
  form.list("communicators", rank.communicators);
  form.member("stopped_ms", rank.stopped_ms);
  if (form.has_statistics())
    form.object("statistics", rank.statistics);
  form.member("rank_source", rank.rank_source, RankSource::unknown);
  form.object("mpi", rank.mpi);
  form.list("blocked_in", rank.blocked_in, one_line);
  form.member("stopped_at", rank.stopped_at);
  form.member("world_rank", rank.world_rank);
  form.member("world_size", rank.world_size);
  form.member("job_id", rank.job_id);
  form.member("stopped_before_us", rank.stopped_before_us);
  auto level = rank.mpi ? rank.mpi->thread_level : ThreadLevel::unknown;
  form.member("thread_level", level, ThreadLevel::unknown);
  form.put([&] {
    if (rank.mpi)
      rank.mpi->thread_level = level;
  });
  form.member("process_state", rank.process_state);
  form.list("stacks", rank.stacks);
  form.part("variables", rank.variables);
  form.list_or_absent("joints", rank.joints, one_line);
  form.part("handles", rank.handles);
}

} // namespace mqbridge
