#include "tests/mqs/process_memory.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <sys/uio.h>

namespace mqbridge {

Result<void> ProcessMemory::read_ranges(std::span<MemoryRange> ranges) {
  for (auto& range : ranges) {
    range.read = 0;
    while (range.read < range.into.size()) { // page by page: one call is all or nothing
      const std::uint64_t from = range.address.value + range.read;
      const std::size_t size =
          std::min<std::size_t>(range.into.size() - range.read, 4096 - from % 4096);
      iovec local{range.into.data() + range.read, size};
      iovec remote{reinterpret_cast<void*>(from), size};
      const ssize_t read = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
      if (read != static_cast<ssize_t>(size))
        break;
      range.read += size;
    }
    bytes_read += range.read;
  }
  return {};
}

Result<ImageSet> images_of_process(pid_t pid) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::vector<Image> images;
  std::set<std::string> seen;
  std::string line;
  while (std::getline(maps, line)) {
    std::istringstream words(line);
    std::string range, permissions, offset, device, inode, path;
    words >> range >> permissions >> offset >> device >> inode >> path;
    if (!path.starts_with('/') || std::stoull(offset, nullptr, 16) != 0 ||
        !seen.insert(path).second)
      continue;
    auto file = ElfFile::open(path);
    if (!file)
      continue; // mapped data, such as a locale
    Image image;
    image.target_path = path;
    if ((*file)->segments().empty())
      continue;
    // The first segment has the file's beginning; it is 0 where the file is position independent.
    image.bias = {std::stoull(range, nullptr, 16) - (*file)->segments().front().address.value};
    image.file = *file;
    images.push_back(std::move(image));
  }
  if (images.empty())
    return fail("image.missing", fmt::format("process {} has no images", pid));
  return ImageSet(std::move(images));
}

} // namespace mqbridge
