#pragma once

#include "bench/queue_walk/cell.h"
#include "bench/queue_walk/measured.h"
#include "rsp/result.h"

#include <functional>
#include <string>

namespace mqbridge::bench {

class Stage;

/// The parts of an answer that are compared: contenders on the same processes must agree on them.
struct AnswerKey {
  std::uint64_t operations = 0;
  std::string checksum; ///< bench/peers/answer_checksum.h; empty: the contender does not tell
};

struct Attempt {
  Measured cost;
  AnswerKey answer;
};

/// One line of the plots: something that walks the queues of a cell's targets.
struct Contender {
  std::string name; ///< "mqbridge/cache:full/state:warm", "peer:gdb_mqd_host"
  std::function<bool(const Cell&)> applies;
  /// Runs it once over the cell's link, on a fresh connection. The error says why there is no whole
  /// answer.
  std::function<Result<Attempt>(Stage&, const Cell&)> run;
};

} // namespace mqbridge::bench
