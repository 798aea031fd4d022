#include "host/types/indexer/dwarf_parts.h"

#include <utility>

namespace mqbridge {

std::unique_ptr<DwarfParts> DwarfParts::open(GivenFiles files, Questions& questions,
                                             std::shared_ptr<DwarfFault> fault) {
  std::unique_ptr<DwarfParts> parts(new DwarfParts(questions, fault));
  parts->main_ = DwarfFile::open(std::move(files.main), fault);
  if (!parts->main_)
    return nullptr;
  if (files.alternate) {
    parts->alternate_ = DwarfFile::open(std::move(*files.alternate), fault);
    if (!parts->alternate_) // the main file's own types are there
      parts->alternate_defect_ = fault->any() ? std::exchange(*fault, {}).what : "no DWARF in it";
  }
  if (files.wants_alternate)
    parts->main_->set_alternate(parts->alternate_.get());
  return fault->any() ? nullptr : std::move(parts);
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

DwarfDie DwarfParts::die_at(TypePlace place) {
  const auto number = place.file();
  auto* file = number == 0   ? main_.get()
               : number == 1 ? alternate_.get()
                             : split_.file(number - TypePlace::lasting_files);
  return file == nullptr ? DwarfDie() : file->die_at({file, place.offset(), place.in_info()});
}

std::optional<TypePlace> DwarfParts::place_of(const DwarfDie& die) const {
  const auto place = die.place();
  std::uint64_t number = 0;
  if (place.file == alternate_.get())
    number = 1;
  else if (place.file != main_.get())
    number = TypePlace::lasting_files + split_.number_of(place.file);
  return TypePlace::pack(number, place.in_info, place.offset);
}

} // namespace mqbridge
