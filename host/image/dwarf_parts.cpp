#include "host/image/dwarf_parts.h"

#include <fmt/format.h>
#include <iterator>

namespace mqbridge {

Result<std::unique_ptr<DwarfParts>> DwarfParts::open(const ElfFile& elf, const FilePaths& paths) {
  const auto file = elf.path().string();
  if (const auto& compression = elf.unknown_compression(); !compression.empty()) {
    return fail("dwarf.compression",
                fmt::format("the DWARF of {} is compressed with {}, which libdwarf cannot undo",
                            file, compression),
                fmt::format("objcopy --decompress-debug-sections {} types.debug    then: "
                            "--types types.debug",
                            file));
  }
  auto fault = std::make_shared<DwarfFault>();
  auto main = DwarfFile::open(elf.path(), fault);
  if (!main)
    return forward(std::move(main));
  if (*main == nullptr)
    return std::unique_ptr<DwarfParts>();
  std::unique_ptr<DwarfParts> parts(new DwarfParts(elf, paths, std::move(fault)));
  parts->main_ = std::move(*main);
  if (elf.alternate_link())
    parts->find_alternate(paths);
  if (parts->main_->faulty())
    return parts->main_->take_fault();
  return parts;
}

void DwarfParts::find_alternate(const FilePaths& paths) {
  const auto link = *elf_.alternate_link();
  std::string other_build;
  for (const auto& place : alternate_file_places(paths, elf_)) {
    const auto candidate = ElfFile::open(place);
    if (!candidate)
      continue;
    if ((*candidate)->build_id() != link.build_id) {
      other_build = fmt::format(" ({} is another build)", place.string());
      continue;
    }
    auto opened = DwarfFile::open(place, fault_);
    if (!opened || *opened == nullptr)
      continue;
    alternate_ = std::move(*opened);
    break;
  }
  main_->set_alternate(alternate_.get());
  if (alternate_)
    return;
  warnings_.push_back(
      {"dwarf.alternate_missing",
       fmt::format(
           "{} shares DWARF with others in {}, build-id {}, which is not here{}; types that "
           "are only there are not known",
           elf_.path().string(), link.file, link.build_id, other_build),
       "install it with the debug symbols of the package, or give its directory: --debug-dir DIR"});
}

void DwarfParts::for_each_unit(const std::function<void(const DwarfUnit&)>& visit) {
  std::vector<Skeleton> skeletons;
  main_->for_each_unit([&](const DwarfUnit& unit) {
    if (auto skeleton = Skeleton::of(unit))
      skeletons.push_back(std::move(*skeleton));
    else
      visit(unit);
  });
  if (!main_->faulty())
    split_.for_each_unit(skeletons, visit);
}

std::vector<Error> DwarfParts::take_warnings() {
  auto warnings = std::exchange(warnings_, {});
  auto split = split_.take_warnings();
  std::move(split.begin(), split.end(), std::back_inserter(warnings));
  return warnings;
}

} // namespace mqbridge
