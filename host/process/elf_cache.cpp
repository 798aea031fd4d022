#include "host/process/elf_cache.h"

#include "host/disk/work_budget.h"
#include "rsp/codes.h"

#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

/// What took so long that the time was over, if it was this.
Error name_slow_work(Error over, std::string_view work, const std::filesystem::path& path,
                     Clock::duration time) {
  constexpr std::chrono::milliseconds noticeable{100};
  if (over.code != codes::stop_limit || time < noticeable)
    return over;
  const std::chrono::duration<double> seconds = time;
  over.message += fmt::format("; {} {} took {:.1f} s", work, path.string(), seconds.count());
  over.hint = "look what slows the file system of that file down, or raise --max-stop";
  return over;
}

} // namespace

template <class Open>
ElfCache::Opened ElfCache::once(Entries& entries, const std::filesystem::path& path,
                                std::string_view work, const Open& open) {
  if (auto over = work_over())
    return Failure(std::move(*over));
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = &entries.try_emplace(path).first->second;
  }
  const auto locked = lock_in_time(entry->opening);
  if (!locked)
    return Failure(locked.error());
  if (entry->opened)
    return *entry->opened;
  const auto begun = Clock::now();
  auto opened = open();
  auto over = work_over();
  if (opened || !is_work_over(opened.error()))
    entry->opened = opened;
  if (over)
    return Failure(name_slow_work(std::move(*over), work, path, Clock::now() - begun));
  return opened;
}

Result<std::shared_ptr<const ElfFile>> ElfCache::open(const std::filesystem::path& path) {
  return once(files_, path, "to open", [&] { return ElfFile::open(path); });
}

Result<std::shared_ptr<const ElfFile>> ElfCache::debug_of(const ElfFile& file) {
  return once(debug_files_, file.path(), "to find the debug file of",
              [&] { return find_debug_file(paths_, file); });
}

} // namespace mqbridge
