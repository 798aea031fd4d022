#pragma once

#include "host/dump/document.h"
#include "host/report/table.h"
#include "host/report/text_report.h"
#include "host/report/wait_groups.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mqbridge {

/// The columns of a rank's operations: QUEUE, STATUS, PEER(local), TAG, SIZE, BUFFER.
std::vector<Column> operation_columns();

/// One line of a queue: an operation, or several alike.
struct OperationRow {
  std::vector<Cell> cells;
  Cell note; ///< what stands behind the cells, or below them where there is no room
  OpSource source = OpSource::dll;
  std::string detail; ///< --raw: what the DLL said; empty: nothing to add
};

/// The lines of the program's own operations of one queue (of sends that have returned only with
/// options.full), in the order in which they were posted
/// (Operation::sequence); those of which that is not known come last, in that of the list. More
/// operations than options.show are folded: a run of operations that differ in nothing but tag and
/// buffer becomes one line, "3000 x 8 B" with the tags "0-2999" in their order. Where that leaves
/// more than options.show lines, those that are alike and apart from each other are folded, too,
/// and at most options.show lines come out. Returns the number of operations that no line stands
/// for.
std::uint64_t operation_rows(const Communicator& communicator, OpClass op_class,
                             const WaitGroups& waits, const TextOptions& options,
                             const std::function<void(const OperationRow&)>& row);

} // namespace mqbridge
