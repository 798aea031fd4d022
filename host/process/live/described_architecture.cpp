#include "host/process/live/described_architecture.h"

#include "host/limits.h"
#include "host/process/target_description.h"
#include "rsp/commands/qxfer.h"

#include <deque>

namespace mqbridge {

Result<std::string> read_architecture(rsp::Client& client) {
  std::deque<std::string> annexes = {"target.xml"};
  for (int files = 0; files < limits::description_files && !annexes.empty(); ++files) {
    // Names come from the stub, and go into a packet: nothing in them may end it.
    const std::string annex = std::move(annexes.front());
    annexes.pop_front();
    if (annex.empty() || annex.find_first_of("#$}*:") != std::string::npos)
      continue;
    auto xml = rsp::read_object(client, "features", annex);
    if (!xml)
      return forward(std::move(xml));
    auto description = parse_target_description(xml->value_or(""));
    if (!description.architecture.empty())
      return std::move(description.architecture);
    annexes.insert(annexes.end(), description.includes.begin(), description.includes.end());
  }
  return std::string{};
}

} // namespace mqbridge
