#include "host/dump/target/core_access.h"

#include "host/process/core/core_process.h"

namespace mqbridge {

Result<OpenedProcess> CoreAccess::open() {
  auto process = CoreProcess::open(endpoint_.path, endpoint_.text, files_);
  if (!process)
    return forward(std::move(process));
  OpenedProcess opened{std::move(*process)};
  warnings_ = opened.source->gaps();
  if (opened.source->has_real_pid())
    pid_ = opened.source->pid();
  return opened;
}

} // namespace mqbridge
