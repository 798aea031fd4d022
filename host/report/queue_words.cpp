#include "host/report/queue_words.h"

#include "host/mpi/mpi_support.h"
#include "host/report/fitted_text.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace mqbridge {
namespace {

std::string mpi_name(const RankDump& rank) {
  return rank.mpi && !rank.mpi->name.empty() ? clipped(printable(rank.mpi->name), 30)
                                             : "the debug DLL";
}

std::string transport_name(const RankDump& rank) {
  return rank.mpi && rank.mpi->transport
             ? "transport " + clipped(printable(*rank.mpi->transport), 20)
             : "the transport";
}

/// The MPI's debug DLL does not show it, and mqbridge cannot read it itself.
std::string types_missing(const RankDump& rank) {
  const bool known = rank.mpi && rank.mpi->transport;
  return fmt::format("types of {} not known",
                     known ? clipped(printable(*rank.mpi->transport), 20) : "the transport");
}

/// Of whoever has shown the queues; without a debug DLL mqbridge has read them itself.
const DllFacts& facts_of(const RankDump& rank) {
  const MpiSupport& support = rank.dll   ? support_of(rank.dll->provider)
                              : rank.mpi ? support_named(rank.mpi->name)
                                         : support_of("");
  return support.facts().dll;
}

std::string truncation(const Queue& queue) {
  switch (queue.truncated_by) {
  case TruncatedBy::nothing:
    return {};
  case TruncatedBy::operations:
    return "cut off by --max-operations";
  case TruncatedBy::time:
    return "cut off: the walk took too long";
  case TruncatedBy::max_stop:
    return "cut off by --max-stop";
  case TruncatedBy::bytes:
    return "cut off by --max-bytes";
  }
  return {};
}

std::string error_words(const Queue& queue, bool with_cause) {
  const std::string cut = truncation(queue);
  const std::string cause = queue.error ? printable(*queue.error) : std::string("the DLL failed");
  const std::string what = cut.empty() ? "error" : cut;
  return with_cause ? what + ": " + cause : what;
}

} // namespace

std::string_view short_name(OpClass op_class) {
  switch (op_class) {
  case OpClass::send:
    return "send";
  case OpClass::receive:
    return "recv";
  case OpClass::unexpected:
    return "unexp";
  }
  return {};
}

std::string short_state(const RankDump& rank, const Queue& queue) {
  if (queue.state == QueueState::available)
    return truncation(queue);
  if (queue.state == QueueState::error)
    return error_words(queue, false);
  switch (queue.reason) {
  case QueueReason::not_provided:
    return "not provided";
  case QueueReason::transport_bypasses:
    return transport_name(rank) + " bypasses the DLL";
  case QueueReason::dll_failed:
    return "the DLL failed";
  case QueueReason::not_requested:
    return "not asked for";
  case QueueReason::target_died:
    return "the process ended";
  case QueueReason::types_missing:
    return "not provided: " + types_missing(rank);
  case QueueReason::senders_unseen:
    return "known once all senders are in the dump";
  case QueueReason::not_recorded:
    return "not all was recorded";
  case QueueReason::none:
    break;
  }
  return queue.state == QueueState::not_requested ? "not asked for" : "unavailable";
}

std::string long_state(const RankDump& rank, const Queue& queue) {
  if (queue.state == QueueState::available)
    return truncation(queue);
  if (queue.state == QueueState::error)
    return error_words(queue, true) + " (unknown, not empty)";
  if (queue.state == QueueState::not_requested)
    return "not asked for (--queue)";
  if (queue.reason == QueueReason::not_provided)
    return fmt::format("not provided by {} (unknown, not empty)", mpi_name(rank));
  if (queue.reason == QueueReason::types_missing)
    return fmt::format("not provided by {}: {} (unknown, not empty)", mpi_name(rank),
                       types_missing(rank));
  std::string text = "unavailable: " + short_state(rank, queue);
  if (queue.error)
    text += ": " + printable(*queue.error);
  return text + " (unknown, not empty)";
}

std::string read_by_mqbridge(const RankDump& rank) {
  const bool known = rank.mpi && rank.mpi->transport;
  return fmt::format("(read by mqbridge from {})",
                     known ? clipped(printable(*rank.mpi->transport), 20) : mpi_name(rank));
}

std::string_view never_listed(const RankDump& rank, OpClass op_class) {
  return facts_of(rank).never_listed(op_class, rank.dll.has_value());
}

std::string_view nothing_listed(const RankDump& rank, OpClass op_class) {
  const auto words = facts_of(rank).words[static_cast<std::size_t>(op_class)].empty;
  return !rank.dll && words == QueueWords().empty ? "none" : words;
}

std::optional<std::uint64_t> own_total(const Queue& queue, const OperationCounts& counts) {
  if (!queue.total)
    return std::nullopt;
  return *queue.total - std::min(*queue.total, counts.inside + counts.returned);
}

std::string common_state(const RankDump& rank, OpClass op_class) {
  std::optional<std::string> common;
  for (const Communicator& communicator : rank.communicators) {
    const Queue& queue = communicator.queue(op_class);
    const bool of_the_rank =
        queue.state == QueueState::not_requested || queue.reason == QueueReason::not_provided ||
        queue.reason == QueueReason::types_missing || queue.reason == QueueReason::senders_unseen ||
        queue.reason == QueueReason::transport_bypasses;
    std::string state = of_the_rank ? long_state(rank, queue) : "";
    if (state.empty() || (common && *common != state))
      return {};
    common = std::move(state);
  }
  return common.value_or("");
}

bool was_cut_short(const RankDump& rank) {
  return rank.status == RankStatus::failed ||
         (rank.status == RankStatus::partial && first_error(rank) != nullptr);
}

std::string display_name(const Communicator& communicator) {
  constexpr std::size_t widest = 40;
  const std::string name = shortened(printable(communicator.name), widest);
  if (!communicator.named_by_mpi)
    return "\"" + name + "\"";
  return name.empty() ? "(no name)" : name;
}

std::string counts_text(const OperationCounts& counts, std::string_view bound) {
  std::string text = fmt::format("{}{}", counts.pending, bound);
  const auto add = [&](std::uint64_t count, std::string_view word) {
    if (count > 0)
      text += fmt::format(", {} {}", count, word);
  };
  add(counts.complete, "done");
  add(counts.inactive, "inactive");
  add(counts.unknown, "unknown");
  return text;
}

std::string count_text(const RankDump& rank, OpClass op_class) {
  OperationCounts counts;
  std::uint64_t kept = 0;
  std::uint64_t total = 0;
  std::size_t available = 0;
  std::size_t unavailable = 0;
  std::size_t not_requested = 0;
  bool more = false;
  for (const Communicator& communicator : rank.communicators) {
    const Queue& queue = communicator.queue(op_class);
    unavailable += queue.state == QueueState::unavailable;
    not_requested += queue.state == QueueState::not_requested;
    available += queue.state == QueueState::available;
    more = more || queue.state == QueueState::error || queue.truncated_by != TruncatedBy::nothing;
    const OperationCounts own = count_operations(queue, op_class);
    kept += own.own();
    counts.add(own);
    total += own_total(queue, own).value_or(own.own());
  }
  const std::size_t communicators = rank.communicators.size();
  if (not_requested == communicators && (communicators > 0 || rank.status == RankStatus::ok))
    return "-"; // all left out by --queue, or by --comm
  if (communicators > 0 && unavailable == communicators)
    return "n/a";
  more = more || was_cut_short(rank) || (available > 0 && unavailable > 0);
  if (communicators == 0 || (more && total == 0))
    return "?";
  const std::string of_all = kept < total ? fmt::format("/{}", total) : "";
  return counts_text(counts, of_all + (more ? "+" : ""));
}

} // namespace mqbridge
