#include "host/image/dwarf_types.h"

#include "host/image/dwarf_index.h"
#include "host/image/dwarf_layout.h"

#include <array>
#include <fmt/format.h>
#include <map>
#include <span>

namespace mqbridge {
namespace {

struct Spelling {
  std::string_view prefix;
  NameKind kind;
};

constexpr std::array spellings = {Spelling{"struct ", NameKind::structure},
                                  Spelling{"union ", NameKind::union_},
                                  Spelling{"enum ", NameKind::enumeration}};

// What a name without keyword may be, in the order in which it is looked for.
constexpr std::array bare_kinds = {NameKind::type_definition, NameKind::structure, NameKind::union_,
                                   NameKind::enumeration, NameKind::base};

class DwarfTypes : public TypeSource {
public:
  DwarfTypes(std::shared_ptr<const ElfFile> elf, std::unique_ptr<DwarfFile> dwarf)
      : elf_(std::move(elf)), dwarf_(std::move(dwarf)) {}

  Result<const TypeLayout*> find(std::string_view name) override;

private:
  Result<void> build_index();
  Result<std::optional<TypeLayout>> look_up(std::string_view name);
  Result<std::optional<TypeLayout>> first_complete(std::span<const NameKind> kinds,
                                                   std::string_view name);

  std::shared_ptr<const ElfFile> elf_;
  std::unique_ptr<DwarfFile> dwarf_; // outlives the index, which points to its names
  DwarfIndex index_;
  bool indexed_ = false;
  std::optional<Error> broken_;
  std::map<std::string, std::optional<TypeLayout>, std::less<>> known_;
};

Result<void> DwarfTypes::build_index() {
  if (!indexed_) {
    indexed_ = true;
    index_.build(*dwarf_);
    if (!dwarf_->fault().empty())
      broken_ = dwarf_->take_fault().value();
  }
  if (broken_)
    return Failure(*broken_);
  return {};
}

Result<const TypeLayout*> DwarfTypes::find(std::string_view name) {
  auto found = known_.find(name);
  if (found == known_.end()) {
    if (auto done = build_index(); !done)
      return forward(std::move(done));
    auto layout = look_up(name);
    if (!layout)
      return forward(std::move(layout));
    found = known_.emplace(std::string(name), std::move(*layout)).first;
    if (found->second)
      found->second->name = name;
  }
  return found->second ? &*found->second : nullptr;
}

Result<std::optional<TypeLayout>> DwarfTypes::look_up(std::string_view name) {
  for (const auto& spelling : spellings) {
    if (name.starts_with(spelling.prefix))
      return first_complete({&spelling.kind, 1}, name.substr(spelling.prefix.size()));
  }
  return first_complete(bare_kinds, name);
}

Result<std::optional<TypeLayout>> DwarfTypes::first_complete(std::span<const NameKind> kinds,
                                                             std::string_view name) {
  for (const auto kind : kinds) {
    for (const auto place : index_.find(kind, name)) {
      DwarfLayout layout(*dwarf_, index_, static_cast<unsigned>(elf_->platform().pointer_size));
      auto found = layout.of(dwarf_->die_at(place));
      if (!dwarf_->fault().empty())
        return dwarf_->take_fault();
      if (!found)
        continue;
      return found;
    }
  }
  return std::nullopt;
}

} // namespace

Result<std::shared_ptr<TypeSource>> open_dwarf_types(std::shared_ptr<const ElfFile> file) {
  auto dwarf = file->has_dwarf() ? DwarfFile::open(file->path()) : nullptr;
  if (!dwarf)
    return forward(std::move(dwarf));
  if (*dwarf == nullptr) {
    return fail("dwarf.none", fmt::format("{} has no DWARF", file->path().string()),
                "install the debug symbols of its package, or compile it with -g");
  }
  return std::shared_ptr<TypeSource>(
      std::make_shared<DwarfTypes>(std::move(file), std::move(*dwarf)));
}

} // namespace mqbridge
