#include "host/types/pack_finder.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <limits>
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

/// The first `most` that are accepted, and where none is: the first error, if there was one.
Result<std::vector<FoundPack>> find(std::span<const std::filesystem::path> directories,
                                    std::size_t most,
                                    const std::function<bool(const TypePack&)>& accept) {
  std::vector<FoundPack> packs;
  std::optional<Error> first_error;
  for (const auto& directory : directories) {
    for (const auto& file : pack_files(directory)) {
      auto pack = read_type_pack(file);
      if (!pack && !first_error)
        first_error = std::move(pack).error();
      if (pack && accept(*pack))
        packs.push_back({file, std::move(*pack)});
      if (packs.size() == most)
        return packs;
    }
  }
  if (packs.empty() && first_error)
    return Failure(*first_error);
  return packs;
}

/// "4.1.4": 4.1, and 4. A release may have words behind its number ("4.1.5rc2").
struct Release {
  std::string_view series;
  unsigned number = 0;
};

std::optional<Release> release_of(std::string_view version) {
  const auto minor = version.find('.');
  const auto dot = minor == version.npos ? minor : version.find('.', minor + 1);
  if (dot == version.npos)
    return std::nullopt;
  Release release{version.substr(0, dot)};
  const auto digits = version.substr(dot + 1);
  const auto end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, release.number).ec != std::errc())
    return std::nullopt;
  return release;
}

/// How far a pack's version is from the one that is wanted; nullopt: of another series.
std::optional<long> distance(std::string_view pack, std::string_view wanted) {
  if (pack == wanted)
    return -1;
  const auto one = release_of(pack);
  const auto other = release_of(wanted);
  if (!one || !other || one->series != other->series)
    return std::nullopt;
  return std::abs(long{one->number} - long{other->number});
}

} // namespace

Result<std::optional<FoundPack>> find_pack(std::span<const std::filesystem::path> directories,
                                           std::string_view build_id) {
  if (build_id.empty())
    return std::nullopt;
  auto packs =
      find(directories, 1, [&](const TypePack& pack) { return pack.build_id == build_id; });
  if (!packs)
    return forward(std::move(packs));
  return packs->empty() ? std::nullopt : std::optional(std::move(packs->front()));
}

Result<std::vector<FoundPack>>
find_packs_by_version(std::span<const std::filesystem::path> directories, std::string_view mpi,
                      std::string_view version, const Platform& platform) {
  constexpr auto all = std::numeric_limits<std::size_t>::max();
  auto packs = find(directories, all, [&](const TypePack& pack) {
    return pack.mpi == mpi && distance(pack.version, version) &&
           pack.architecture == platform.architecture && pack.byte_order == platform.byte_order &&
           pack.pointer_size == platform.pointer_size;
  });
  if (packs)
    std::ranges::stable_sort(
        *packs, {}, [&](const FoundPack& found) { return distance(found.pack.version, version); });
  return packs;
}

} // namespace mqbridge
