#include "host/mqs/ask_handles.h"

#include "host/mqs/handle_results.h"
#include "host/mqs/worker_session.h"

#include <utility>

namespace mqbridge {

HandleResult ask_handles(const HandleRequest& request) {
  auto start = start_message(request);
  auto& asked = start.handles.emplace();
  for (const auto& handle : request.question.handles)
    asked.push_back({handle.value, static_cast<std::uint8_t>(handle.kind), handle.fortran});
  HandleResult result;
  MessageLog log(result.dll_messages);
  HandleReader results(request, result, log);
  run_worker(request, start, results, result, log);
  result.handles.listed = request.question.handles.empty();
  result.handles.dll = request.dll.string();
  result.handles.dll_version = result.dll_version;
  return result;
}

} // namespace mqbridge
