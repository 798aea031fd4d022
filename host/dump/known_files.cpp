#include "host/dump/known_files.h"

#include "host/limits.h"
#include "host/mpi/mpi_roots.h"

#include <cstdint>
#include <exception>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

namespace mqbridge {
namespace {

constexpr RecordKind known_files_kind{
    .folder = "known-files", .version = 1, .limit = std::uint64_t{4} << 20};
constexpr std::string_view key = "of the last dump";

/// Where they will be loaded is not known, and does not matter.
constexpr LoadBias anywhere{0, std::numeric_limits<std::uint64_t>::max()};

} // namespace

KnownFiles::KnownFiles(ElfCache& files, ReplayHints& replay,
                       const std::optional<std::filesystem::path>& root)
    : files_(files), replay_(replay), records_(known_files_kind, root) {
  if (const auto bytes = records_.load(key))
    known_ = decode_paths(*bytes);
  try {
    ready_ = std::async(std::launch::async, [this] { look_through(); });
  } catch (const std::system_error&) { // RLIMIT_NPROC, cgroup
    ready_ = std::async(std::launch::deferred, [this] { look_through(); });
  }
}

KnownFiles::~KnownFiles() {
  wait();
}

/// Opens the files as the ranks will: the shared caches keep the results.
void KnownFiles::look_through() {
  try {
    std::vector<Image> images;
    for (const auto& path : known_) {
      const auto file = files_.open(path);
      if (!file)
        continue;
      if (!(*file)->build_id().empty())
        static_cast<void>(replay_.image_pages((*file)->build_id()));
      const auto debug = files_.debug_of(**file);
      images.push_back({path.string(), anywhere, *file, debug ? *debug : nullptr});
    }
    static_cast<void>(mpi_root_pages(ImageSet(std::move(images), files_.dwarf())));
  } catch (const std::exception&) {
    // No memory: the ranks say so, if they have none either.
  }
}

void KnownFiles::add(const ImageSet& images) {
  const std::lock_guard lock(mutex_);
  for (const auto& image : images.images())
    if (image.file && !image.file->place().root && image.file->path().is_absolute() &&
        used_.size() < limits::known_files)
      used_.insert(image.file->path().string());
}

void KnownFiles::keep() {
  const std::lock_guard lock(mutex_);
  if (used_.empty())
    return;
  if (const auto bytes = encode_paths(used_); decode_paths(bytes) != known_)
    records_.store(key, bytes);
}

std::vector<std::byte> encode_paths(const std::set<std::string>& paths) {
  std::vector<std::byte> bytes;
  for (const auto& path : paths) {
    const auto* const text = reinterpret_cast<const std::byte*>(path.c_str());
    bytes.insert(bytes.end(), text, text + path.size() + 1);
  }
  return bytes;
}

std::vector<std::filesystem::path> decode_paths(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::filesystem::path> paths;
  while (!text.empty()) {
    const auto end = text.find('\0');
    if (end == std::string_view::npos || !text.starts_with('/') ||
        paths.size() == limits::known_files)
      return {};
    paths.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return paths;
}

} // namespace mqbridge
