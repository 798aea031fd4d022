#include "host/files/file_finder.h"

#include "host/disk/work_budget.h"
#include "host/elf/elf_reader.h"
#include "host/files/sysroot.h"

#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <zlib.h>

namespace mqbridge {
namespace {

using Root = std::shared_ptr<const ProcessRoot>;

bool is_file(const FilePlace& place) {
  const auto status = status_of(place);
  return status && S_ISREG(status->st_mode);
}

// Whether something has that name, even if it may not be looked at: opening it says why.
bool is_there(const FilePlace& place) {
  return status_of(place) || (errno != ENOENT && errno != ENOTDIR);
}

std::vector<FilePlace> debug_roots(const FilePaths& paths, const Root& root) {
  std::vector<FilePlace> roots(paths.debug_dirs.begin(), paths.debug_dirs.end());
  for (const auto& sysroot : paths.sysroots) {
    if (auto inside = resolve_in_sysroot(sysroot, "usr/lib/debug"))
      roots.emplace_back(*inside);
  }
  if (root)
    roots.emplace_back(root->name() / "usr/lib/debug", root);
  roots.emplace_back("/usr/lib/debug");
  return roots;
}

// The file's path in the target: its path here, without the sysroot or root that it was found in.
std::filesystem::path path_in_target(const FilePaths& paths, const FilePlace& place) {
  const auto& path = place.path;
  if (place.root)
    return "/" / path.lexically_relative(place.root->name());
  for (const auto& sysroot : paths.sysroots) {
    const auto relative = path.lexically_normal().lexically_relative(sysroot.lexically_normal());
    if (!relative.empty() && *relative.begin() != "..")
      return "/" / relative;
  }
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal();
}

// The CRC-32 of the whole file, as .gnu_debuglink states it. nullopt: the file cannot be read.
// Errors: those of work_over().
Result<std::optional<std::uint32_t>> file_crc(const FilePlace& place) {
  auto fd = open_regular_file(place);
  if (!fd)
    return std::nullopt;
  std::array<unsigned char, 65536> buffer;
  uLong crc = crc32(0, nullptr, 0);
  ssize_t count = 0;
  while ((count = ::read(fd->get(), buffer.data(), buffer.size())) > 0) {
    if (auto over = work_over())
      return Failure(std::move(*over));
    crc = crc32(crc, buffer.data(), static_cast<uInt>(count));
  }
  if (count < 0)
    return std::nullopt;
  return static_cast<std::uint32_t>(crc);
}

using DebugFile = Result<std::shared_ptr<const ElfFile>>;

// The candidate, if it is an ELF file of the same build; nullptr if it is one of another build.
DebugFile open_candidate(const FilePlace& candidate, const ElfFile& file) {
  auto debug = ElfFile::open(candidate);
  if (!debug)
    return debug;
  if (!file.build_id().empty() && !(*debug)->build_id().empty() &&
      file.build_id() != (*debug)->build_id())
    return nullptr;
  if ((*debug)->platform() != file.platform())
    return nullptr;
  return debug;
}

std::vector<FilePlace> debug_link_places(const FilePaths& paths, const ElfFile& file,
                                         const std::string& name) {
  const auto& here = file.place();
  const auto directory = here.path.parent_path();
  std::vector<FilePlace> places = {here.sibling(directory / name),
                                   here.sibling(directory / ".debug" / name)};
  const auto in_target = path_in_target(paths, here).parent_path().relative_path();
  for (const auto& root : debug_roots(paths, here.root))
    places.push_back(root.sibling(root.path / in_target / name));
  return places;
}

bool same_file(const FilePlace& one, const FilePlace& other) {
  const auto first = status_of(one);
  const auto second = status_of(other);
  return first && second && first->st_dev == second->st_dev && first->st_ino == second->st_ino;
}

/// A place to look at. Without `inside`, the sysroot has no file of that name.
struct TargetFilePlace {
  std::filesystem::path named;
  std::optional<FilePlace> inside;
};

// The places by the path map, in each sysroot, in the target's own root, and on this host itself.
std::vector<TargetFilePlace> target_file_places(const FilePaths& paths,
                                                std::string_view target_path, const Root& root) {
  std::vector<TargetFilePlace> places;
  for (const auto& rule : paths.path_map)
    if (auto mapped = map_path(rule, target_path))
      places.push_back({*mapped, FilePlace(*mapped)});
  const std::filesystem::path path(target_path);
  if (!path.is_absolute())
    return places;
  for (const auto& sysroot : paths.sysroots)
    places.push_back({sysroot / path.relative_path(), resolve_in_sysroot(sysroot, path)});
  if (root) {
    const FilePlace inside(root->name() / path.relative_path(), root);
    places.push_back({inside.path, inside});
  }
  if (paths.sysroots.empty())
    places.push_back({path, FilePlace(path)});
  return places;
}

FilePlace by_build_id(const FilePlace& debug_root, const std::string& id) {
  return debug_root.sibling(debug_root.path / ".build-id" / id.substr(0, 2) /
                            (id.substr(2) + ".debug"));
}

/// The places at which an alternate file may be, best first.
std::vector<FilePlace> alternate_file_places(const FilePaths& paths, const ElfFile& file,
                                             const ElfFile::AlternateLink& link) {
  const std::filesystem::path named(link.file);
  // The part that is the same on every host: Debian links to ../../.dwz/TRIPLET/PACKAGE.debug.
  std::filesystem::path below_dwz;
  for (bool below = false; const auto& component : named) {
    if (below && component != "..")
      below_dwz /= component;
    below = below || component == ".dwz";
  }
  std::vector<FilePlace> places;
  for (const auto& root : debug_roots(paths, file.place().root)) {
    if (const auto& id = link.build_id; id.size() > 2)
      places.push_back(by_build_id(root, id));
    if (!below_dwz.empty())
      places.push_back(root.sibling(root.path / ".dwz" / below_dwz));
  }
  if (named.is_relative()) {
    places.push_back(file.place().sibling(file.path().parent_path() / named));
  } else if (auto found = find_target_file(paths, link.file, file.place().root)) {
    places.push_back(std::move(*found));
  }
  return places;
}

} // namespace

std::vector<FilePlace> target_file_candidates(const FilePaths& paths, std::string_view target_path,
                                              const Root& root) {
  std::vector<FilePlace> files;
  for (auto& place : target_file_places(paths, target_path, root))
    if (place.inside && (place.inside->root ? is_there(*place.inside) : is_file(*place.inside)))
      files.push_back(std::move(*place.inside));
  return files;
}

Result<FilePlace> find_target_file(const FilePaths& paths, std::string_view target_path,
                                   const Root& root) {
  if (auto files = target_file_candidates(paths, target_path, root); !files.empty())
    return std::move(files.front());
  const auto places = target_file_places(paths, target_path, root);
  if (places.empty())
    return fail("image.missing",
                fmt::format("'{}' is no path of a file on the target", target_path));
  std::vector<std::string> tried;
  tried.reserve(places.size());
  for (const auto& place : places)
    tried.push_back(place.named.string());
  return fail("image.missing",
              fmt::format("no file for {}: tried {}", target_path, fmt::join(tried, ", ")),
              "give a copy of the target's files with --sysroot DIR, or --path-map FROM=TO");
}

Result<std::shared_ptr<const ElfFile>> find_debug_file(const FilePaths& paths,
                                                       const ElfFile& file) {
  std::vector<FilePlace> candidates;
  if (const auto& id = file.build_id(); id.size() > 2) {
    for (const auto& root : debug_roots(paths, file.place().root))
      candidates.push_back(by_build_id(root, id));
  }
  const auto with_build_id = candidates.size();
  const auto link = file.debug_link();
  // A link is a file name: anything else would lead out of the directories named here.
  if (link && link->file.find('/') == std::string::npos) {
    const auto places = debug_link_places(paths, file, link->file);
    candidates.insert(candidates.end(), places.begin(), places.end());
  }
  DebugFile unreadable = nullptr;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& candidate = candidates[i];
    if (!is_file(candidate) || same_file(candidate, file.place()))
      continue;
    if (i >= with_build_id) {
      const auto crc = file_crc(candidate);
      if (!crc)
        return Failure(crc.error());
      if (*crc != link->crc)
        continue;
    }
    auto debug = open_candidate(candidate, file);
    if (debug && *debug != nullptr)
      return debug;
    if (!debug && unreadable)
      unreadable = std::move(debug);
  }
  return unreadable;
}

AlternateFile find_alternate_file(const FilePaths& paths, const ElfFile& file) {
  AlternateFile found;
  const auto link = file.alternate_link();
  if (!link)
    return found;
  for (auto& place : alternate_file_places(paths, file, *link)) {
    const auto candidate = ElfFile::open(place);
    if (!candidate)
      continue;
    if ((*candidate)->build_id() != link->build_id) {
      found.other_build = std::move(place.path);
      continue;
    }
    auto fd = reopen(**candidate);
    if (!fd || !(*candidate)->has_dwarf())
      continue;
    found.file = std::move(*fd);
    found.path = std::move(place.path);
    return found;
  }
  return found;
}

std::vector<FilePlace> split_file_places(const FilePaths& paths, const ElfFile& file,
                                         std::string_view directory, std::string_view name) {
  std::vector<FilePlace> places;
  const auto where_compiled = std::filesystem::path(directory) / name;
  if (auto found = find_target_file(paths, where_compiled.string(), file.place().root))
    places.push_back(std::move(*found));
  const auto here = file.path().parent_path();
  for (const auto& path : {here / name, here / std::filesystem::path(name).filename()}) {
    if (auto beside = file.place().sibling(path); is_file(beside))
      places.push_back(std::move(beside));
  }
  return places;
}

} // namespace mqbridge
