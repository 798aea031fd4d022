#include "host/types/pack_finder.h"

#include <algorithm>
#include <functional>
#include <system_error>
#include <vector>

namespace mqbridge {
namespace {

std::vector<std::filesystem::path> pack_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(directory, error); !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".types")
      files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::optional<FoundPack>> find_first(std::span<const std::filesystem::path> directories,
                                            const std::function<bool(const TypePack&)>& accept) {
  Result<std::optional<FoundPack>> first_error = std::nullopt;
  for (const auto& directory : directories) {
    for (const auto& file : pack_files(directory)) {
      auto pack = read_type_pack(file);
      if (!pack) {
        if (first_error)
          first_error = forward(std::move(pack));
        continue;
      }
      if (accept(*pack))
        return FoundPack{file, std::move(*pack)};
    }
  }
  return first_error;
}

} // namespace

Result<std::optional<FoundPack>> find_pack(std::span<const std::filesystem::path> directories,
                                           std::string_view build_id) {
  if (build_id.empty())
    return std::nullopt;
  return find_first(directories, [&](const TypePack& pack) { return pack.build_id == build_id; });
}

Result<std::optional<FoundPack>>
find_pack_by_version(std::span<const std::filesystem::path> directories, std::string_view mpi,
                     std::string_view version, const Platform& platform) {
  return find_first(directories, [&](const TypePack& pack) {
    return pack.mpi == mpi && pack.version == version &&
           pack.architecture == platform.architecture && pack.byte_order == platform.byte_order &&
           pack.pointer_size == platform.pointer_size;
  });
}

} // namespace mqbridge
