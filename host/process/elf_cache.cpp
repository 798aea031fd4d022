#include "host/process/elf_cache.h"

#include "host/disk/work_budget.h"
#include "rsp/codes.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

/// If the time was over, names the work that took so long.
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

/// Whether the index of the one file is true of the other.
bool same_contents(const Result<std::shared_ptr<const ElfFile>>& one,
                   const Result<std::shared_ptr<const ElfFile>>& other) {
  return one && other && *one && *other && (*one)->identity() == (*other)->identity();
}

} // namespace

std::shared_ptr<ElfCache::Entry> ElfCache::entry(Entries& entries, const std::string& key) {
  const std::lock_guard lock(mutex_);
  auto& found = entries[key];
  if (!found)
    found = std::make_shared<Entry>();
  found->used = Clock::now();
  auto wanted = found; // `found` may be gone below
  if (entries.size() > most_files)
    entries.erase(std::min_element(entries.begin(), entries.end(), [](auto& one, auto& other) {
      return one.second->used < other.second->used;
    }));
  return wanted;
}

template <class Open>
ElfCache::Opened ElfCache::once(Entries& entries, std::string key, const FilePlace& place,
                                std::string_view work, const Open& open) {
  if (place.root) // another process may have this one's number by now
    key += '\n' + place.root->identity();
  if (auto over = work_over())
    return Failure(std::move(*over));
  const auto wanted = entry(entries, key);
  const auto locked = lock_in_time(wanted->opening);
  if (!locked)
    return Failure(locked.error());
  const auto begun = Clock::now();
  if (wanted->opened && begun - wanted->opened_at < believe_)
    return *wanted->opened;
  auto opened = open();
  auto over = work_over();
  if (opened || !is_work_over(opened.error())) {
    if (!wanted->opened || !same_contents(*wanted->opened, opened))
      wanted->opened = opened;
    wanted->opened_at = begun;
    opened = wanted->opened.value();
  }
  if (over)
    return Failure(name_slow_work(std::move(*over), work, place.path, Clock::now() - begun));
  return opened;
}

Result<std::shared_ptr<const ElfFile>> ElfCache::open(const FilePlace& place) {
  return once(files_, place.path.string(), place, "to open", [&] { return ElfFile::open(place); });
}

Result<std::shared_ptr<const ElfFile>> ElfCache::debug_of(const ElfFile& file) {
  return once(debug_files_, file.identity(), file.place(), "to find the debug file of",
              [&] { return find_debug_file(paths_, file); });
}

} // namespace mqbridge
