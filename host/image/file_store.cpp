#include "host/image/file_store.h"

#include "host/image/elf_reader.h"

#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

/// The name comes from a target's memory, and becomes a file name.
bool is_build_id(std::string_view text) {
  return text.size() >= 2 && text.size() <= 128 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string name_of(std::string_view build_id) {
  return fmt::format("{}.elf", build_id);
}

} // namespace

Result<FileStore> FileStore::open(const std::optional<fs::path>& directory, std::uint64_t limit) {
  if (!directory) {
    auto made = TemporaryDirectory::make();
    if (!made)
      return forward(std::move(made));
    auto temporary = std::make_unique<TemporaryDirectory>(std::move(*made));
    auto files = CacheDirectory::temporary(temporary->path(), limit);
    return FileStore(std::move(files), std::move(temporary));
  }
  auto files = CacheDirectory::open(*directory, limit);
  if (!files)
    return forward(std::move(files));
  return FileStore(std::move(*files), nullptr);
}

std::optional<fs::path> FileStore::find(std::string_view build_id) const {
  if (!is_build_id(build_id))
    return std::nullopt;
  auto place = directory_.path() / name_of(build_id);
  if (!directory_.touch(place))
    return std::nullopt;
  const auto file = ElfReader::open(place);
  if (file && file->build_id() == build_id)
    return place;
  // A machine that went down, or a full disk, leaves half files; they would be in the way for ever.
  // One that cannot be opened now (no descriptor is left) may be whole.
  if (file || file.error().code != "elf.open")
    ::unlink(place.c_str());
  return std::nullopt;
}

Result<IncomingFile> FileStore::begin() const {
  return directory_.begin();
}

Result<fs::path> FileStore::keep(IncomingFile file, std::string_view build_id) const {
  const auto elf = ElfFile::open(file.path());
  if (!elf)
    return Failure(elf.error());
  if (build_id.empty() && temporary_) {
    const auto name = fmt::format("kept-{}", file.path().filename().string());
    return directory_.put(std::move(file), name);
  }
  if (!is_build_id(build_id) || (*elf)->build_id() != build_id) {
    return fail("files.other_build",
                fmt::format("the file is of another build: build-id {}, not {}",
                            (*elf)->build_id().empty() ? "none" : (*elf)->build_id(), build_id),
                "it was replaced since the process started: give the old one with --sysroot DIR");
  }
  // Another process may have read it meanwhile, and have it open: FileOnDisk takes a new one for
  // another file.
  if (auto there = find(build_id))
    return *there;
  return directory_.put(std::move(file), name_of(build_id));
}

std::optional<fs::path> default_store_directory() {
  const auto root = cache_root();
  return root ? std::optional(*root / "files") : std::nullopt;
}

} // namespace mqbridge
