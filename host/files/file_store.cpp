#include "host/files/file_store.h"

#include "host/codes.h"
#include "host/elf/elf_reader.h"

#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

/// Whether the text, which comes from a target's memory and becomes a file name, is a build-id.
bool is_build_id(std::string_view text) {
  return text.size() >= 2 && text.size() <= 128 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string prefix_of(std::string_view build_id) {
  return fmt::format("{}-", build_id);
}

std::string name_of(const FileOrigin& origin) {
  return fmt::format("{}{:x}-{:x}-{:x}-{:x}.elf", prefix_of(origin.build_id), origin.inode,
                     origin.size, origin.modified, origin.changed);
}

Result<void> check_build(const IncomingFile& file, std::string_view build_id) {
  const auto elf = ElfFile::open(file.path());
  if (!elf)
    return Failure(elf.error());
  if (build_id.empty() || (*elf)->build_id() == build_id)
    return {};
  return fail("files.other_build",
              fmt::format("the file is of another build: build-id {}, not {}",
                          (*elf)->build_id().empty() ? "none" : (*elf)->build_id(), build_id),
              "it was replaced since the process started: give the old one with --sysroot DIR");
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

std::optional<fs::path> FileStore::find(const FileOrigin& origin) const {
  if (!is_build_id(origin.build_id))
    return std::nullopt;
  auto place = directory_.path() / name_of(origin);
  if (!directory_.touch(place))
    return std::nullopt;
  const auto file = ElfReader::open(place);
  if (file && file->build_id() == origin.build_id)
    return place;
  // A machine that went down, or a full disk, leaves half files; they would be in the way for ever.
  // A file that cannot be opened now (no descriptor is left) may be whole.
  if (file || file.error().code != codes::elf_open)
    ::unlink(place.c_str());
  return std::nullopt;
}

bool FileStore::has(std::string_view build_id) const {
  const auto prefix = prefix_of(build_id);
  std::error_code error;
  for (fs::directory_iterator entry(directory_.path(), error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with(prefix))
      return true;
  return false;
}

Result<IncomingFile> FileStore::begin() const {
  return directory_.begin();
}

Result<fs::path> FileStore::keep(IncomingFile file, const FileOrigin& origin) const {
  if (auto done = check_build(file, origin.build_id); !done)
    return forward(std::move(done));
  if (!is_build_id(origin.build_id))
    return fail("files.store",
                fmt::format("'{}' is no build-id that a file can be kept by", origin.build_id),
                "give a directory tree with the node's own files: --sysroot DIR");
  // Another process may have stored the file meanwhile, and have it open. It must not be replaced:
  // FileOnDisk would take the new file for another one.
  if (auto there = find(origin))
    return *there;
  return directory_.put(std::move(file), name_of(origin));
}

Result<fs::path> FileStore::keep_apart(IncomingFile file, std::string_view build_id) const {
  if (auto done = check_build(file, build_id); !done)
    return forward(std::move(done));
  const auto name = fmt::format("kept-{}", file.path().filename().string());
  return directory_.put(std::move(file), name);
}

std::optional<fs::path> default_store_directory() {
  const auto root = cache_root();
  return root ? std::optional(*root / "files") : std::nullopt;
}

} // namespace mqbridge
