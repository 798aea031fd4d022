#include "host/report/operation_rows.h"

#include "host/disk/file_name.h"
#include "host/document/names.h"
#include "host/document/raw_values.h"
#include "host/dump/values/operation_counts.h"
#include "host/dump/values/ranges.h"
#include "host/mqs/interpret.h"
#include "host/mqs/queues.h"
#include "host/report/fitted_text.h"
#include "host/report/peer_text.h"
#include "host/report/queue_words.h"
#include "host/report/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

enum ColumnIndex : std::size_t {
  queue_column,
  status_column,
  peer_column,
  tag_column,
  size_column
};

std::string tag_text(const Tag& tag) {
  if (tag.any)
    return "ANY";
  return tag.value ? fmt::format("{}", *tag.value) : "?";
}

/// The status of every message in an unexpected queue: its send may be complete or not. Recorders
/// do not see it arriving.
constexpr std::string_view arrived = "arrived";
constexpr std::string_view sent = "sent";

std::string_view status_text(const Operation& operation, OpClass op_class) {
  if (op_class != OpClass::unexpected)
    return name_of(operation.status);
  return operation.source == OpSource::recorder ? sent : arrived;
}

bool is_probe(const Operation& operation) {
  return operation.kind == OpKind::probe || operation.kind == OpKind::mprobe;
}

std::string length_text(const Length& length) {
  if (!length.value)
    return "?";
  switch (length.unit) {
  case LengthUnit::bytes:
    return size_text(*length.value);
  case LengthUnit::elements:
    return fmt::format("{} elements", *length.value);
  case LengthUnit::unknown:
    return fmt::format("{} ?", *length.value);
  }
  return {};
}

/// Marks what mqbridge corrected. Without the repairs that the walker named, a difference is only
/// the ABI's way to say "any" or "not known".
void mark_repairs(const Operation& operation, const std::vector<RawDifference>& differences,
                  std::vector<Cell>& cells) {
  const auto shows = [](Repair repair) { return repair != Repair::text; };
  if (std::none_of(operation.repairs.begin(), operation.repairs.end(), shows))
    return;
  bool marked[size_column + 1] = {};
  for (const RawDifference& difference : differences) {
    if (difference.field == "status")
      marked[status_column] = true;
    else if (difference.field == "desired_local_rank" || difference.field == "desired_global_rank")
      marked[peer_column] = true;
    else if (difference.field == "desired_tag" || difference.field == "tag_wild")
      marked[tag_column] = true;
    else if (difference.field == "desired_length")
      marked[size_column] = true;
  }
  if (is_probe(operation))
    marked[size_column] = false; // it has none
  if (cells[status_column].text == arrived || cells[status_column].text == sent)
    marked[status_column] = false; // it says nothing that the DLL does
  for (std::size_t i = 0; i <= size_column; ++i)
    if (marked[i])
      cells[i].text += '*';
}

/// The kind of an operation in the send or receive queue, if it is not the queue's own kind.
std::string_view kind_note(const Operation& operation) {
  switch (operation.kind) {
  case OpKind::probe:
    return "MPI_Probe";
  case OpKind::mprobe:
    return "MPI_Mprobe";
  case OpKind::message:
    return "held for MPI_Mrecv";
  case OpKind::unknown:
  case OpKind::send:
  case OpKind::receive:
    break;
  }
  return {};
}

/// "MPI_Isend at halo.c:212", as far as a recorder knows it.
std::string call_text(const Operation& operation) {
  constexpr std::size_t widest_file = 44;
  std::string text = printable(*operation.call);
  if (operation.site && operation.site->file && operation.site->line)
    text += fmt::format(" at {}:{}",
                        shortened(printable(file_name(*operation.site->file)), widest_file),
                        *operation.site->line);
  return text;
}

std::string notes(const Operation& operation, OpClass op_class, const WaitedWords& waits) {
  std::string text = is_probe(operation) ? "" : waits.words(operation.waited); // it always is
  const auto add = [&](std::string_view note) {
    text += text.empty() ? "" : "  ";
    text += note;
  };
  if (operation.delivery == Delivery::undelivered)
    add("not delivered");
  if (op_class == OpClass::send && is_returned_send(operation))
    add("returned");
  if (const auto kind = kind_note(operation); op_class != OpClass::unexpected && !kind.empty())
    add(kind);
  if (operation.source == OpSource::mqbridge && !operation.text.empty())
    add(printable(operation.text.front()));
  if (operation.system_buffer)
    add("system buffer");
  if (op_class != OpClass::send && operation.actual) {
    const ActualMessage& actual = *operation.actual;
    const Peer from{false, actual.local_rank, actual.global_rank};
    add(fmt::format("got {} tag {} {}", peer_text(from), tag_text({false, actual.tag}),
                    length_text({actual.length, LengthUnit::bytes})));
  }
  // Last: what does not fit the line is cut, and these add least to the columns before.
  if (operation.call)
    add(call_text(operation));
  if (operation.datatype)
    add((operation.count ? fmt::format("{} ", *operation.count) : "") +
        printable(*operation.datatype));
  return text;
}

std::string raw_detail(const Operation& operation, const std::vector<RawDifference>& differences) {
  std::string text;
  for (const RawDifference& difference : differences) {
    text += text.empty() ? "" : ", ";
    text += difference.is_address ? fmt::format("{} {:#x}", difference.field,
                                                static_cast<std::uint64_t>(difference.value))
                                  : fmt::format("{} {}", difference.field, difference.value);
  }
  if (!text.empty())
    text = "DLL: " + text;
  for (const std::string line : operation.text.all())
    if (!line.empty())
      text += (text.empty() ? "" : "; ") + printable(line);
  return text;
}

/// The word that stands for the buffer of a message without one: "eager".
std::string unbuffered(const Operation& operation) {
  return operation.buffer ? "" : std::string(name_of(operation.protocol));
}

/// Everything but buffer and request: what alike operations share. The last cell is left to the
/// caller.
OperationRow row_of(const Operation& operation, OpClass op_class) {
  OperationRow row;
  row.source = operation.source;
  row.cells = {{std::string(short_name(op_class))},
               {std::string(status_text(operation, op_class))},
               {peer_text(operation.peer)},
               {tag_text(operation.tag)},
               {is_probe(operation) ? "-" : length_text(operation.length)}};
  mark_repairs(operation, raw_differences(operation), row.cells);
  return row;
}

void finish_single(const Operation& operation, OpClass op_class, const TextOptions& options,
                   const WaitedWords& waits, OperationRow& row) {
  const std::string instead = unbuffered(operation);
  row.cells.push_back({operation.buffer  ? fmt::format("{:#x}", operation.buffer->value)
                       : instead.empty() ? "-"
                                         : instead});
  row.note = {notes(operation, op_class, waits)};
  if (options.raw)
    row.detail = raw_detail(operation, raw_differences(operation));
}

/// Indices of the program's own operations in the order in which they were posted. Sends are
/// numbered for each peer, so they are listed peer by peer. Operations without a `sequence` come
/// last, in list order.
std::vector<std::size_t> posting_order(const ChunkedList<Operation>& operations, OpClass op_class,
                                       bool with_returned) {
  std::vector<std::size_t> order;
  order.reserve(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (is_own(operations[i]) && (with_returned || !is_returned_send(operations[i])))
      order.push_back(i);
  if (op_class == OpClass::unexpected)
    return order;
  const auto place = [&](std::size_t index) {
    const Operation& operation = operations[index];
    if (!operation.sequence)
      return std::tuple(true, std::int64_t{0}, std::uint32_t{0});
    const auto peer = op_class == OpClass::send ? operation.peer.local_rank : MaybeInt();
    return std::tuple(false, peer.value_or(0), *operation.sequence);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

/// Operations that differ in nothing but tag and buffer.
struct Alike {
  std::uint64_t count = 0;
  std::size_t first = 0;          ///< index of the first of them
  std::vector<std::int64_t> tags; ///< in order; empty where the first one's is not a number

  void add(const Operation& operation) {
    ++count;
    if (operation.tag.value)
      tags.push_back(*operation.tag.value);
  }
};

struct Folded {
  std::vector<Alike> groups; ///< by first operation
  std::uint64_t left_out = 0;
};

enum class Fold : std::uint8_t { neighbours, all };

/// A key that is the same for operations that share a line.
std::string likeness(const Operation& operation, OpClass op_class, const WaitedWords& waits) {
  std::string key = fmt::format("{}\t{}\t{}", operation.waited.group, unbuffered(operation),
                                notes(operation, op_class, waits));
  const auto cells = row_of(operation, op_class).cells;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (i != tag_column || !operation.tag.value)
      key += '\t' + cells[i].text;
  // The mark of a repaired tag.
  return operation.tag.value && cells[tag_column].text.ends_with('*') ? key + "\t*" : key;
}

Folded fold(const ChunkedList<Operation>& operations, const std::vector<std::size_t>& order,
            OpClass op_class, const WaitedWords& waits, Fold which, std::uint64_t most) {
  std::map<std::string, std::size_t> known;
  Folded folded;
  for (const std::size_t i : order) {
    std::string key = likeness(operations[i], op_class, waits);
    auto found = known.find(key);
    if (found == known.end()) {
      if (folded.groups.size() >= most) {
        ++folded.left_out;
        if (which == Fold::neighbours)
          return folded; // too many lines, however many more they would be
        continue;
      }
      if (which == Fold::neighbours)
        known.clear();
      found = known.emplace(std::move(key), folded.groups.size()).first;
      folded.groups.push_back({0, i, {}});
    }
    folded.groups[found->second].add(operations[i]);
  }
  return folded;
}

/// How many values a run stands for; any 64 bits may have come from a target.
std::uint64_t count_of(const Run& run) {
  const auto first = static_cast<std::uint64_t>(run.first);
  const auto last = static_cast<std::uint64_t>(run.last);
  const auto step = static_cast<std::uint64_t>(run.step);
  return 1 + (run.step > 0 ? (last - first) / step : (first - last) / (0 - step));
}

/// "0-2999", "5-1:-1", "7,9,40"; of many runs the first, and how many tags are left.
std::string tags_text(std::span<const std::int64_t> tags) {
  constexpr std::size_t most_runs = 3;
  const auto runs = to_runs(tags);
  std::string text;
  std::uint64_t shown = 0;
  for (std::size_t i = 0; i < std::min(runs.size(), most_runs); ++i) {
    const Run& run = runs[i];
    text += text.empty() ? "" : ",";
    text += fmt::format("{}", run.first);
    if (run.first != run.last)
      text += fmt::format("-{}", run.last);
    if (run.step != 1)
      text += fmt::format(":{}", run.step);
    shown += count_of(run);
  }
  return shown == tags.size() ? text : fmt::format("{} and {} more", text, tags.size() - shown);
}

constexpr std::string_view show_all = "(--show all)";

/// "same peer and size": what the operations of a line are known to have in common.
std::string same_words(const std::vector<Cell>& cells, bool same_tag) {
  constexpr std::string_view not_known = "?";
  std::vector<std::string_view> same;
  if (!cells[peer_column].text.starts_with(not_known))
    same.emplace_back("peer");
  if (same_tag && !cells[tag_column].text.starts_with(not_known))
    same.emplace_back("tag");
  if (!cells[size_column].text.starts_with(not_known))
    same.emplace_back("size");
  std::string text;
  for (std::size_t i = 0; i < same.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "same " : i + 1 < same.size() ? ", " : " and ", same[i]);
  return text + (text.empty() ? "" : "  ") + std::string(show_all);
}

OperationRow row_of_several(const Alike& group, const Operation& first, OpClass op_class,
                            const WaitedWords& waits) {
  OperationRow row = row_of(first, op_class);
  const bool same_tag = std::all_of(group.tags.begin(), group.tags.end(),
                                    [&](std::int64_t tag) { return tag == group.tags.front(); });
  if (!same_tag) {
    const std::string mark = row.cells[tag_column].text.ends_with('*') ? "*" : "";
    row.cells[tag_column].text = tags_text(group.tags) + mark;
  }
  const std::string waited = waits.words(first.waited);
  if (!waited.empty())
    row.note = {waited + "  " + std::string(show_all)};
  else if (!unbuffered(first).empty())
    row.note = {std::string(show_all), Style::dim};
  else
    row.note = {same_words(row.cells, same_tag), Style::dim};
  row.cells[size_column].text = fmt::format("{} x {}", group.count, row.cells[size_column].text);
  row.cells.push_back({unbuffered(first)});
  return row;
}

} // namespace

WaitedWords::WaitedWords(const RankDump& rank) {
  for (const Communicator& communicator : rank.communicators)
    for (const OpClass op_class : {OpClass::send, OpClass::receive}) {
      const Queue& queue = communicator.queue(op_class);
      all_here_ = all_here_ && is_whole(queue);
      for (const Operation& operation : queue.operations)
        if (operation.waited)
          ++members_[operation.waited.group];
    }
}

std::string WaitedWords::words(const Waited& waited) const {
  if (!waited)
    return {};
  const bool counted = waited.count != Waited::unknown_count;
  std::string text = "waited";
  if (waited.mode == WaitMode::all)
    text += counted ? fmt::format(": all {}", waited.count + 0) : ": all";
  if (waited.mode == WaitMode::any)
    text += counted ? fmt::format(": any {}", waited.count + 0) : ": any";
  const auto members = members_.find(waited.group);
  if (waited.mode == WaitMode::any && all_here_ && members != members_.end())
    text += fmt::format(" of {}", members->second);
  if (!waited.unseen)
    return text;
  // If one must complete, nothing tells whether that one is among the others.
  return text + (waited.count == 1 ? ", perhaps more unseen" : ", some unseen");
}

std::vector<Column> operation_columns() {
  return {{"QUEUE"},
          {"STATUS"},
          {"PEER(local)"},
          {"TAG"},
          {"SIZE", Align::right},
          {"BUFFER", Align::left, 2, 1}};
}

std::uint64_t operation_rows(const Communicator& communicator, OpClass op_class,
                             const WaitedWords& waits, const TextOptions& options,
                             const std::function<void(const OperationRow&)>& row) {
  const ChunkedList<Operation>& operations = communicator.queue(op_class).operations;
  const std::vector<std::size_t> order = posting_order(operations, op_class, options.full);
  if (!options.show || order.size() <= *options.show) {
    for (const std::size_t index : order) {
      OperationRow single = row_of(operations[index], op_class);
      finish_single(operations[index], op_class, options, waits, single);
      row(single);
    }
    return 0;
  }
  Folded folded = fold(operations, order, op_class, waits, Fold::neighbours, *options.show);
  if (folded.left_out > 0)
    folded = fold(operations, order, op_class, waits, Fold::all, *options.show);
  for (const Alike& group : folded.groups) {
    const Operation& first = operations[group.first];
    if (group.count > 1) {
      row(row_of_several(group, first, op_class, waits));
      continue;
    }
    OperationRow single = row_of(first, op_class);
    finish_single(first, op_class, options, waits, single);
    row(single);
  }
  return folded.left_out;
}

} // namespace mqbridge
