#include "host/image/elf_cache.h"

namespace mqbridge {

Result<std::shared_ptr<const ElfFile>> ElfCache::open(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  return found != files_.end() ? found->second
                               : files_.emplace(path, ElfFile::open(path)).first->second;
}

Result<std::shared_ptr<const ElfFile>> ElfCache::debug_of(const ElfFile& file) {
  const std::lock_guard lock(mutex_);
  const auto found = debug_files_.find(file.path());
  return found != debug_files_.end()
             ? found->second
             : debug_files_.emplace(file.path(), find_debug_file(paths_, file)).first->second;
}

} // namespace mqbridge
