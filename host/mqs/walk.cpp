#include "host/mqs/walk.h"

#include "host/mqs/results.h"
#include "host/mqs/worker_session.h"

namespace mqbridge {

WalkResult walk_queues(const WalkRequest& request) {
  auto start = start_message(request);
  for (OpClass op_class : request.op_classes)
    start.op_classes |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(op_class));
  start.max_operations = request.max_operations;
  start.ignore_welcome = request.ignore_welcome;
  WalkResult result;
  MessageLog log(result.dll_messages);
  ResultReader results(request, result, log);
  run_worker(request, start, results, result, log);
  return result;
}

} // namespace mqbridge
