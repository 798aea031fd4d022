#include "host/process/known_ranges.h"

#include <elf.h>

namespace mqbridge {

std::vector<MappedRange> stack_of(const AuxiliaryVector& auxv) {
  const auto random = auxv.find(AT_RANDOM);
  const auto name = auxv.find(AT_EXECFN);
  if (!random || !name || *name < *random)
    return {};
  return {{{*random}, {*name}, true, true, "[stack]"}};
}

std::vector<MappedRange> segments_of(const Image& image) {
  std::vector<MappedRange> ranges;
  for (const auto& segment : image.file->segments())
    if (segment.memory_size > 0)
      ranges.push_back({image.bias(segment.address),
                        image.bias(segment.address) + (segment.memory_size - 1), true,
                        segment.writable, image.target_path});
  return ranges;
}

} // namespace mqbridge
