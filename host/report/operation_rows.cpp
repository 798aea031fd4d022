#include "host/report/operation_rows.h"

#include "host/report/names.h"
#include "host/report/printable.h"
#include "host/report/queue_words.h"
#include "host/report/raw_values.h"
#include "host/report/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace mqbridge {
namespace {

enum ColumnIndex : std::size_t {
  queue_column,
  status_column,
  peer_column,
  tag_column,
  size_column
};

/// Global rank, and the local one where it differs: "2(0)".
std::string peer_text(const Peer& peer) {
  if (peer.any)
    return "ANY";
  if (peer.local_rank == proc_null)
    return "NULL";
  if (!peer.global_rank)
    return peer.local_rank ? fmt::format("?({})", *peer.local_rank) : "?";
  if (!peer.local_rank || peer.local_rank == peer.global_rank)
    return fmt::format("{}", *peer.global_rank);
  return fmt::format("{}({})", *peer.global_rank, *peer.local_rank);
}

std::string tag_text(const Tag& tag) {
  if (tag.any)
    return "ANY";
  return tag.value ? fmt::format("{}", *tag.value) : "?";
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
  for (std::size_t i = 0; i <= size_column; ++i)
    if (marked[i])
      cells[i].text += '*';
}

/// What an operation of the send or receive queue is, where that is not its queue's name.
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

std::string notes(const Operation& operation, OpClass op_class) {
  std::string text;
  const auto add = [&](std::string_view note) {
    text += text.empty() ? "" : "  ";
    text += note;
  };
  if (operation.delivery == Delivery::undelivered)
    add("not delivered");
  if (const auto kind = kind_note(operation); op_class != OpClass::unexpected && !kind.empty())
    add(kind);
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
    add(printable(*operation.call));
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

/// Everything but buffer and request: what alike operations share. The last cell is left to the
/// caller.
OperationRow row_of(const Operation& operation, OpClass op_class) {
  OperationRow row;
  row.cells = {{std::string(short_name(op_class))},
               {std::string(name_of(operation.status))},
               {peer_text(operation.peer)},
               {tag_text(operation.tag)},
               {is_probe(operation) ? "-" : length_text(operation.length)}};
  mark_repairs(operation, raw_differences(operation), row.cells);
  return row;
}

void finish_single(const Operation& operation, OpClass op_class, const TextOptions& options,
                   OperationRow& row) {
  std::string last = operation.buffer ? fmt::format("{:#x}", operation.buffer->value) : "-";
  if (const std::string more = notes(operation, op_class); !more.empty())
    last += "  " + more;
  row.cells.push_back({last});
  if (options.raw)
    row.detail = raw_detail(operation, raw_differences(operation));
}

struct Alike {
  std::uint64_t count = 0;
  std::size_t first = 0; ///< index of the first of them
};

struct Folded {
  std::vector<Alike> groups; ///< by first operation
  std::uint64_t left_out = 0;
};

Folded fold(const ChunkedList<Operation>& operations, OpClass op_class, std::uint64_t most) {
  std::map<std::string, std::size_t> known;
  Folded folded;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    std::string key = notes(operations[i], op_class);
    for (const Cell& cell : row_of(operations[i], op_class).cells)
      key += '\t' + cell.text;
    const auto found = known.find(key);
    if (found != known.end()) {
      ++folded.groups[found->second].count;
    } else if (known.size() < most) {
      known.emplace(std::move(key), folded.groups.size());
      folded.groups.push_back({1, i});
    } else {
      ++folded.left_out;
    }
  }
  return folded;
}

} // namespace

std::vector<Column> operation_columns() {
  return {{"QUEUE"}, {"STATUS"}, {"PEER(local)"}, {"TAG"}, {"SIZE", Align::right}, {"BUFFER"}};
}

std::uint64_t operation_rows(const Communicator& communicator, OpClass op_class,
                             const TextOptions& options,
                             const std::function<void(const OperationRow&)>& row) {
  const ChunkedList<Operation>& operations = communicator.queue(op_class).operations;
  if (!options.show || operations.size() <= *options.show) {
    for (const Operation& operation : operations) {
      OperationRow single = row_of(operation, op_class);
      finish_single(operation, op_class, options, single);
      row(single);
    }
    return 0;
  }
  const Folded folded = fold(operations, op_class, *options.show);
  for (const Alike& group : folded.groups) {
    OperationRow line = row_of(operations[group.first], op_class);
    if (group.count == 1) {
      finish_single(operations[group.first], op_class, options, line);
    } else {
      line.cells[size_column].text =
          fmt::format("{} x {}", group.count, line.cells[size_column].text);
      line.cells.push_back({"same peer, tag and size  (--show all)", Style::dim});
    }
    row(line);
  }
  return folded.left_out;
}

} // namespace mqbridge
