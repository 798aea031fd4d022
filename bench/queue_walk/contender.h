#pragma once

#include "bench/queue_walk/cell.h"
#include "bench/queue_walk/measured.h"
#include "rsp/result.h"

#include <functional>
#include <string>

namespace mqbridge::bench {

class Stage;

/// What an answer is compared by: contenders on the same processes must agree.
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
  /// Once over that link, from a fresh connection on. An error that tells why it did not come to a
  /// whole answer.
  std::function<Result<Attempt>(Stage&, const Cell&)> run;
};

} // namespace mqbridge::bench
