#include "host/dump/core_access.h"

#include "host/process/core/core_process.h"

namespace mqbridge {

Result<OpenedProcess> CoreAccess::open() {
  auto process = CoreProcess::open(endpoint_.path, endpoint_.text, files_);
  if (!process)
    return forward(std::move(process));
  OpenedProcess opened{std::move(*process)};
  opened.warnings = opened.source->gaps();
  return opened;
}

} // namespace mqbridge
