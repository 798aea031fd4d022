#include "host/image/dwarf_types.h"

#include "host/image/dwarf_index.h"
#include "host/image/dwarf_layout.h"
#include "host/image/dwarf_parts.h"

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
  DwarfTypes(std::shared_ptr<const ElfFile> elf, FilePaths paths)
      : elf_(std::move(elf)), paths_(std::move(paths)) {}

  /// False: no DWARF. To be called once, before all else.
  Result<bool> open();

  Result<const TypeLayout*> find(std::string_view name) override;
  std::vector<Error> take_warnings() override { return dwarf_->take_warnings(); }

private:
  Result<void> build_index();
  Result<std::optional<TypeLayout>> look_up(std::string_view name);
  Result<std::optional<TypeLayout>> first_complete(std::span<const NameKind> kinds,
                                                   std::string_view name);

  std::shared_ptr<const ElfFile> elf_;
  FilePaths paths_;
  std::unique_ptr<DwarfParts> dwarf_; // outlives the index, which points to its names
  DwarfIndex index_;
  bool indexed_ = false;
  std::optional<Error> broken_;
  std::map<std::string, std::optional<TypeLayout>, std::less<>> known_;
};

Result<bool> DwarfTypes::open() {
  auto dwarf = DwarfParts::open(*elf_, paths_);
  if (!dwarf)
    return forward(std::move(dwarf));
  dwarf_ = std::move(*dwarf);
  return dwarf_ != nullptr;
}

Result<void> DwarfTypes::build_index() {
  if (!indexed_) {
    indexed_ = true;
    index_.build(*dwarf_);
    if (dwarf_->main().faulty())
      broken_ = dwarf_->main().take_fault().value();
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
  auto& main = dwarf_->main();
  for (const auto kind : kinds) {
    for (const auto place : index_.find(kind, name)) {
      DwarfLayout layout(main, index_, static_cast<unsigned>(elf_->platform().pointer_size));
      auto found = layout.of(place.file->die_at(place));
      if (main.faulty())
        return main.take_fault();
      if (!found)
        continue;
      return found;
    }
  }
  return std::nullopt;
}

} // namespace

Result<std::shared_ptr<TypeSource>> open_dwarf_types(std::shared_ptr<const ElfFile> file,
                                                     FilePaths paths) {
  const auto path = file->path().string();
  const bool has_dwarf = file->has_dwarf();
  auto types = std::make_shared<DwarfTypes>(std::move(file), std::move(paths));
  auto opened = has_dwarf ? types->open() : false;
  if (!opened)
    return forward(std::move(opened));
  if (!*opened) {
    return fail("dwarf.none", fmt::format("{} has no DWARF", path),
                "install the debug symbols of its package, or compile it with -g");
  }
  return std::shared_ptr<TypeSource>(std::move(types));
}

} // namespace mqbridge
