#pragma once

#include "host/dump/document.h"
#include "host/report/table.h"
#include "host/report/text_report.h"

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
  std::string detail; ///< --raw: what the DLL said; empty: nothing to add
};

/// The lines of one queue, in the DLL's order. More operations than options.show are folded: those
/// with the same peer, tag, size and status become one line "1000 x 8 B", and at most options.show
/// lines come out. Returns the number of operations that no line stands for.
std::uint64_t operation_rows(const Communicator& communicator, OpClass op_class,
                             const TextOptions& options,
                             const std::function<void(const OperationRow&)>& row);

} // namespace mqbridge
