#include "host/types/indexer/dwarf_split.h"

#include <algorithm>
#include <dwarf.h>

namespace mqbridge {
namespace {

// Each file stays open as long as its types are used. dwp packs a program of more objects.
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
  for (const auto& skeleton : visit_package(skeletons, visit)) {
    if (fault_->any())
      return;
    if (files_.size() < max_files && visit_file(skeleton, visit))
      continue;
    ++missing_.units;
    if (missing_.first.size() < wire::max_missing_names)
      missing_.first.push_back(skeleton.name);
  }
  missing_.all_units = static_cast<std::uint32_t>(skeletons.size());
}

// The skeletons of `wanted` that no package has.
std::vector<Skeleton>
SplitDwarf::visit_package(std::vector<Skeleton> wanted,
                          const std::function<void(const DwarfUnit&)>& visit) {
  auto supplied = wanted.empty() ? std::nullopt : questions_.package();
  auto package = supplied ? open(std::move(*supplied), missing_.package) : nullptr;
  if (!package)
    return wanted;
  files_.push_back(std::move(package));
  files_.back()->for_each_unit([&](const DwarfUnit& unit) {
    const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const Skeleton& skeleton) {
      return unit.split_id && skeleton.id == unit.split_id;
    });
    // Type units have no id: their definitions are asked for by signature or by name.
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
  for (std::uint32_t index = 0;; ++index) {
    auto supplied = questions_.split(skeleton.directory, skeleton.name, index);
    if (!supplied)
      return false;
    std::string why;
    auto file = open(std::move(*supplied), why);
    if (!file)
      continue;
    // If the file was compiled again since, it describes other types than the running ones.
    bool same_build = false;
    file->for_each_unit([&](const DwarfUnit& unit) {
      same_build = same_build || (skeleton.id && unit.split_id == skeleton.id);
    });
    if (fault_->any())
      return true;
    if (!same_build)
      continue;
    files_.push_back(std::move(file));
    files_.back()->for_each_unit(visit);
    return true;
  }
}

// A file that cannot be opened is no fault: it counts as missing.
std::unique_ptr<DwarfFile> SplitDwarf::open(SuppliedFile file, std::string& why) {
  auto opened = DwarfFile::open(std::move(file), fault_);
  if (!opened)
    why = fault_->any() ? std::exchange(*fault_, {}).what : "there is no DWARF in it";
  return opened;
}

std::uint64_t SplitDwarf::number_of(const DwarfFile* file) const {
  const auto known = std::find_if(files_.rbegin(), files_.rend(),
                                  [&](const auto& open) { return open.get() == file; });
  return static_cast<std::uint64_t>(files_.rend() - known) - 1;
}

} // namespace mqbridge
