#pragma once

#include "host/dump/values/document.h"
#include "host/report/table.h"
#include "host/report/text_report.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mqbridge {

/// Words about a rank's calls that wait for operations: operations of one group belong to one call.
class WaitedWords {
public:
  explicit WaitedWords(const RankDump& rank);

  /// "waited: any 1 of 4", "waited: all 3", "waited: all 5, some unseen", "waited" (for all or for
  /// any: not known). Empty: nobody waits for it, or that is not known.
  std::string words(const Waited& waited) const;

private:
  std::map<std::uint32_t, std::uint64_t> members_; ///< of each group, in the document
  bool all_here_ = true; ///< the document has every operation that the rank has
};

/// The columns of a rank's operations: QUEUE, STATUS, PEER(local), TAG, SIZE, BUFFER.
std::vector<Column> operation_columns();

/// One line of a queue: an operation, or several alike.
struct OperationRow {
  std::vector<Cell> cells;
  Cell note; ///< a text behind the cells, or below them if there is no room
  OpSource source = OpSource::dll;
  std::string detail; ///< --raw: what the DLL said; empty: nothing to add
};

/// The lines for the program's own operations of one queue (sends that have returned only with
/// options.full), in the order in which they were posted (Operation::sequence); operations without
/// a known sequence come last, in the list's order. More operations than options.show are folded: a
/// run of operations that differ in nothing but tag and buffer becomes one line, "3000 x 8 B" with
/// the tags "0-2999" in their order. If that leaves more than options.show lines, equal operations
/// that are not neighbours are folded, too, and at most options.show lines come out. Returns the
/// number of operations without a line.
std::uint64_t operation_rows(const Communicator& communicator, OpClass op_class,
                             const WaitedWords& waits, const TextOptions& options,
                             const std::function<void(const OperationRow&)>& row);

} // namespace mqbridge
