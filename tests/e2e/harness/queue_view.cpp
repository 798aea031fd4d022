#include "tests/e2e/harness/queue_view.h"

#include <fmt/format.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

std::vector<FoundOperation> operations_of(const json& rank, bool internal) {
  std::vector<FoundOperation> found;
  for (const json& communicator : rank["communicators"])
    for (const auto& [queue, content] : communicator["queues"].items())
      for (const json& operation : content["operations"])
        if (is_internal(operation) == internal)
          found.push_back({communicator["name"], queue, &operation});
  return found;
}

} // namespace

const json& FoundOperation::operator[](const char* field) const {
  static const json null;
  const auto found = operation->find(field);
  return found == operation->end() ? null : *found;
}

std::string FoundOperation::text() const {
  return fmt::format("{} {}: {}", communicator, queue, operation->dump());
}

bool is_internal(const json& operation) {
  const auto collective = operation.find("collective");
  return collective != operation.end() && !collective->is_null();
}

std::vector<FoundOperation> internal_operations(const json& rank) {
  return operations_of(rank, true);
}

std::vector<FoundOperation> own_operations(const json& rank) {
  return operations_of(rank, false);
}

std::size_t receives_of(const json& rank) {
  std::size_t count = 0;
  for (const json& communicator : rank["communicators"])
    count += communicator["queues"]["receive"]["operations"].size();
  return count;
}

} // namespace mqbridge::e2e
