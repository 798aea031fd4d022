#pragma once

#include "host/memory/memory.h"
#include "host/process/image_set.h"

#include <sys/types.h>

namespace mqbridge {

/// Memory of a process of this machine, without any stub.
class ProcessMemory final : public Memory {
public:
  explicit ProcessMemory(pid_t pid) : pid_(pid) {}
  Result<void> read_ranges(std::span<MemoryRange> ranges) override;

  std::size_t bytes_read = 0;

private:
  pid_t pid_;
};

/// What /proc/PID/maps says is loaded.
Result<ImageSet> images_of_process(pid_t pid);

} // namespace mqbridge
