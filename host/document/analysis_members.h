#pragma once

#include "host/document/forms.h"
#include "host/dump/values/analysis.h"

#include <utility>

namespace mqbridge {

void describe(auto& form, JobRanks& ranks) {
  form.member("job_id", ranks.job_id);
  form.member("ranks", ranks.ranks);
}

void describe(auto& form, Wait& wait) {
  form.member("rank", wait.rank);
  form.member("mode", wait.mode);
  form.member("for", wait.ranks);
  form.member("because", wait.because);
  form.member("place", wait.place);
  form.member("thread", wait.thread);
  form.member("job_id", wait.job_id);
  form.list_or_absent("elsewhere", wait.elsewhere, one_line);
  form.member("unseen", wait.unseen);
}

void describe(auto& form, Finding& finding) {
  form.member("kind", finding.kind);
  form.member("ranks", finding.ranks);
  form.member("message", finding.message);
  form.member("job_id", finding.job_id);
}

void describe(auto& form, JobVerdict& verdict) {
  auto core_ranks = values_of(verdict.core); // as scripts read them
  form.member("core", verdict.core);
  form.member("core_ranks", core_ranks);
  form.member("blocked", verdict.blocked);
}

/// What of a blocked call is compared.
struct ComparedCall {
  BlockedCall call;
};

inline std::optional<std::vector<ComparedCall>>
compared(const std::optional<std::vector<BlockedCall>>& calls) {
  if (!calls)
    return std::nullopt;
  std::vector<ComparedCall> compared;
  for (const BlockedCall& call : *calls)
    compared.push_back({call});
  return compared;
}

void describe(auto& form, ComparedCall& compared) {
  form.member("call", compared.call.call, present);
  form.member("function", compared.call.function);
  form.member("file", compared.call.file);
  form.member("line", compared.call.line);
}

void describe(auto& form, ChannelChange& channel) {
  form.member("communicator", channel.communicator);
  form.member("peer", channel.peer);
  form.member("sent", channel.sent);
  form.member("arrived", channel.arrived);
}

void describe(auto& form, OperationChange& operation) {
  OperationKind& kind = operation.kind;
  form.member("count", operation.count);
  form.member("queue", kind.queue);
  form.member("communicator", kind.communicator);
  form.member("any_peer", kind.any_peer);
  form.member("peer", kind.peer);
  form.member("any_tag", kind.any_tag);
  form.member("tag", kind.tag);
  form.member("length", kind.length);
  form.member("collective", kind.collective);
}

void describe(auto& form, RankChanges& rank) {
  form.member("rank", rank.rank);
  form.member("job_id", rank.job_id);
  form.member("change", rank.change);
  form.list("calls_before", compared(rank.calls_before), one_line);
  form.list("calls_after", compared(rank.calls_after), one_line);
  form.member("calls_moved", rank.calls_moved);
  form.list("channels", rank.channels, one_line);
  form.list("gone", rank.gone, one_line);
  form.list("new", rank.appeared, one_line);
  form.member("stayed", rank.stayed);
  form.member("unsure", rank.unsure);
}

void describe(auto& form, Changes& changes) {
  form.member("before", changes.before);
  form.member("after", changes.after);
  form.list("ranks", changes.ranks);
}

void describe(auto& form, Analysis& analysis) {
  form.member("verdict", analysis.verdict);
  form.member("confidence", analysis.confidence);
  auto core_ranks = values_of(analysis.core);
  form.member("core", analysis.core);
  form.member("core_ranks", core_ranks);
  form.member("blocked", analysis.blocked);
  form.list("waits", analysis.waits, one_line);
  form.list("findings", analysis.findings);
  form.member("not_visible", analysis.not_visible, own_lines);
  form.member("look_at", analysis.look_at, own_lines);
  form.member("looks", analysis.looks);
  form.member("unchanged_ms", analysis.unchanged_ms);
  form.by_name("by_job", analysis.by_job);
  form.object("changes", analysis.changes);
}

} // namespace mqbridge
