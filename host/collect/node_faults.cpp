#include "host/collect/node_faults.h"

#include "host/launch/node_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {

void NodeFaults::add(const std::string& node, RankError error) {
  const auto alike = std::ranges::find_if(faults_, [&](const Fault& fault) {
    return fault.error.code == error.code && fault.error.level == error.level &&
           fault.error.message == error.message && fault.error.hint == error.hint;
  });
  if (alike != faults_.end())
    alike->nodes.push_back(node);
  else
    faults_.push_back({std::move(error), {node}});
}

std::vector<RankError> NodeFaults::errors() const {
  std::vector<RankError> errors;
  for (const auto& [error, nodes] : faults_) {
    errors.push_back(error);
    errors.back().message = fmt::format("{}: {}", node_list_text(nodes), error.message);
  }
  return errors;
}

} // namespace mqbridge
