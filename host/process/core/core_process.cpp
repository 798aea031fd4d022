#include "host/process/core/core_process.h"

#include <utility>

namespace mqbridge {

Result<std::unique_ptr<CoreProcess>> CoreProcess::open(const CorePath& path, std::string name) {
  auto core = CoreFile::open(path.core);
  if (!core)
    return forward(std::move(core));
  return std::unique_ptr<CoreProcess>(new CoreProcess(std::move(*core), path, std::move(name)));
}

Result<std::optional<std::string>> CoreProcess::executable() {
  auto program = program_of(*core_, memory_);
  return program.empty() ? std::nullopt : std::optional(std::move(program));
}

Result<std::optional<std::string>> CoreProcess::auxiliary_vector() {
  const auto& bytes = core_->notes().auxv;
  return bytes.empty() ? std::nullopt : std::optional(bytes);
}

std::optional<MemoryMap> CoreProcess::take_new_map(const Platform&) {
  return std::exchange(told_map_, true) ? std::nullopt : std::optional(memory_map_of(*core_));
}

Warnings CoreProcess::gaps() const {
  const auto missing = core_->missing();
  return {missing.begin(), missing.end()};
}

} // namespace mqbridge
