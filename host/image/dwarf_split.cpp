#include "host/image/dwarf_split.h"

#include <algorithm>
#include <dwarf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace mqbridge {
namespace {

// Each stays open as long as its types are used. A program of more objects is packed by dwp.
constexpr std::size_t max_files = 256;

} // namespace

std::optional<Skeleton> Skeleton::of(const DwarfUnit& unit) {
  for (const auto attribute : {DW_AT_dwo_name, DW_AT_GNU_dwo_name}) {
    const auto name = unit.die.text(static_cast<Dwarf_Half>(attribute));
    if (!name.empty())
      return Skeleton{std::string(name), std::string(unit.die.text(DW_AT_comp_dir)), unit.split_id};
  }
  return std::nullopt;
}

void SplitDwarf::for_each_unit(const std::vector<Skeleton>& skeletons,
                               const std::function<void(const DwarfUnit&)>& visit) {
  std::vector<std::string> missing;
  for (const auto& skeleton : visit_package(skeletons, visit)) {
    if (fault_->any())
      return;
    if (files_.size() >= max_files || !visit_file(skeleton, visit))
      missing.push_back(skeleton.name);
  }
  report_missing(missing, skeletons.size());
}

// Those of `wanted` that no package has.
std::vector<Skeleton>
SplitDwarf::visit_package(std::vector<Skeleton> wanted,
                          const std::function<void(const DwarfUnit&)>& visit) {
  auto path = elf_.path();
  path += ".dwp";
  std::error_code error;
  if (wanted.empty() || !std::filesystem::is_regular_file(path, error))
    return wanted;
  auto package = DwarfFile::open(path, fault_);
  if (!package || *package == nullptr) {
    warnings_.push_back(
        {"dwarf.split_missing",
         package ? fmt::format("{} has no DWARF", path.string()) : package.error().message,
         fmt::format("make it again: dwp -e {}", elf_.path().string())});
    return wanted;
  }
  files_.push_back(std::move(*package));
  files_.back()->for_each_unit([&](const DwarfUnit& unit) {
    const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const Skeleton& skeleton) {
      return unit.split_id && skeleton.id == unit.split_id;
    });
    // Type units have no id: what they define is asked for by signature or by name.
    if (found == wanted.end() && unit.split_id)
      return;
    if (found != wanted.end())
      wanted.erase(found);
    visit(unit);
  });
  return wanted;
}

bool SplitDwarf::visit_file(const Skeleton& skeleton,
                            const std::function<void(const DwarfUnit&)>& visit) {
  for (const auto& place : split_file_places(paths_, elf_, skeleton.directory, skeleton.name)) {
    auto file = DwarfFile::open(place, fault_);
    if (!file || *file == nullptr)
      continue;
    // Compiled again since, it describes other types than those that run.
    bool same_build = false;
    (*file)->for_each_unit([&](const DwarfUnit& unit) {
      same_build = same_build || (skeleton.id && unit.split_id == skeleton.id);
    });
    if (fault_->any())
      return true;
    if (!same_build)
      continue;
    files_.push_back(std::move(*file));
    files_.back()->for_each_unit(visit);
    return true;
  }
  return false;
}

void SplitDwarf::report_missing(const std::vector<std::string>& missing, std::size_t all) {
  if (missing.empty())
    return;
  constexpr std::size_t shown = 3;
  const auto first = std::span(missing).first(std::min(shown, missing.size()));
  warnings_.push_back(
      {"dwarf.split_missing",
       fmt::format("{} of the {} split DWARF files of {} are not here, or are of another build: "
                   "{}{}; types that only they define are not known",
                   missing.size(), all, elf_.path().string(), fmt::join(first, ", "),
                   missing.size() > shown ? ", ..." : ""),
       fmt::format("put the .dwo files or {}.dwp beside it, or map the build directory: --path-map "
                   "FROM=TO",
                   elf_.path().filename().string())});
}

} // namespace mqbridge
