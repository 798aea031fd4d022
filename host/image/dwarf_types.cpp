#include "host/image/dwarf_types.h"

#include "host/image/cache_records.h"
#include "host/image/dwarf_index.h"
#include "host/image/dwarf_layout.h"
#include "host/image/dwarf_parts.h"
#include "host/image/layout_memo.h"
#include "host/image/work_budget.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <span>

namespace mqbridge {
namespace {

constexpr RecordKind layouts_kind{"layouts", 1, std::uint64_t{64} << 20};
constexpr RecordKind names_kind{"type-names", 1, std::uint64_t{1} << 30};

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

} // namespace

/// The types of one file, for any number of sources. Thread-safe.
class DwarfTypes {
public:
  static Result<std::shared_ptr<DwarfTypes>> open(const std::shared_ptr<const ElfFile>& elf,
                                                  const FilePaths& paths);
  DwarfTypes(std::shared_ptr<const ElfFile> elf, FilePaths paths)
      : elf_(std::move(elf)), paths_(std::move(paths)) {}
  /// Keeps what was found.
  ~DwarfTypes();
  DwarfTypes(const DwarfTypes&) = delete;
  DwarfTypes& operator=(const DwarfTypes&) = delete;

  Result<const TypeLayout*> find(std::string_view name);
  /// All since it was opened, without the first `told`.
  std::vector<Error> warnings(std::size_t told);

private:
  Result<bool> open_parts();
  Result<void> prepare();
  void build_index();
  Result<std::optional<TypeLayout>> look_up(std::string_view name);
  Result<std::optional<TypeLayout>> first_complete(std::span<const NameKind> kinds,
                                                   std::string_view name);
  Result<std::unique_lock<std::timed_mutex>> lock();
  void take_warnings();

  std::shared_ptr<const ElfFile> elf_;
  FilePaths paths_;
  std::timed_mutex mutex_;
  std::unique_ptr<DwarfParts> dwarf_; // null: not opened, known_ had all that was asked for
  std::optional<DwarfIndex> index_;   // refers to dwarf_
  bool index_is_new_ = false;         // no record has it
  std::optional<Error> broken_;
  std::vector<Error> warnings_;
  LayoutMemo known_; // never erased
  bool known_is_new_ = false;
};

Result<std::shared_ptr<DwarfTypes>> DwarfTypes::open(const std::shared_ptr<const ElfFile>& elf,
                                                     const FilePaths& paths) {
  auto types = std::make_shared<DwarfTypes>(elf, paths);
  const auto record = CacheRecords(layouts_kind).load(elf->identity());
  if (auto known = record ? layout_memo(*record) : std::nullopt; known && elf->has_dwarf()) {
    types->known_ = std::move(*known);
    return types;
  }
  auto opened = elf->has_dwarf() ? types->open_parts() : false;
  if (!opened)
    return forward(std::move(opened));
  if (!*opened) {
    return fail("dwarf.none", fmt::format("{} has no DWARF", elf->path().string()),
                "install the debug symbols of its package, or compile it with -g");
  }
  return types;
}

// What lacks a part may be found whole by the next run.
DwarfTypes::~DwarfTypes() {
  if (broken_ || !warnings_.empty())
    return;
  if (known_is_new_)
    CacheRecords(layouts_kind).store(elf_->identity(), to_bytes(known_));
  const auto names = index_is_new_ ? index_->to_bytes() : std::nullopt;
  if (names)
    CacheRecords(names_kind).store(elf_->identity(), *names);
}

/// False: no DWARF.
Result<bool> DwarfTypes::open_parts() {
  auto dwarf = DwarfParts::open(*elf_, paths_);
  if (!dwarf)
    return forward(std::move(dwarf));
  dwarf_ = std::move(*dwarf);
  take_warnings();
  return dwarf_ != nullptr;
}

Result<void> DwarfTypes::prepare() {
  if (broken_)
    return Failure(*broken_);
  auto opened = dwarf_ ? true : open_parts();
  if (!opened)
    return forward(std::move(opened));
  if (!*opened)
    return fail("dwarf.corrupt", fmt::format("{} has no DWARF any more", elf_->path().string()),
                "it was replaced: run it again");
  if (!index_)
    build_index();
  auto& main = dwarf_->main();
  if (!main.faulty())
    return {};
  auto fault = main.take_fault();
  if (fault.value().code == "dwarf.corrupt") {
    broken_ = fault.value();
  } else { // there was no time: from the beginning, if somebody has more
    index_.reset();
    dwarf_.reset();
  }
  return fault;
}

void DwarfTypes::build_index() {
  if (const auto record = CacheRecords(names_kind).load(elf_->identity()))
    index_ = DwarfIndex::from_bytes(*record, *dwarf_);
  if (index_)
    return;
  index_.emplace().build(*dwarf_);
  index_is_new_ = true;
  take_warnings();
}

// What was begun again, as there was no time before, lacks the same parts as before.
void DwarfTypes::take_warnings() {
  if (!dwarf_)
    return;
  for (auto& warning : dwarf_->take_warnings()) {
    const bool known = std::any_of(warnings_.begin(), warnings_.end(), [&](const Error& other) {
      return other.message == warning.message;
    });
    if (!known)
      warnings_.push_back(std::move(warning));
  }
}

// Another rank may be indexing: that takes seconds, of which this one may not have so many.
Result<std::unique_lock<std::timed_mutex>> DwarfTypes::lock() {
  constexpr std::chrono::milliseconds between_looks{10};
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock_for(between_looks))
    if (auto over = work_over())
      return Failure(std::move(*over));
  return lock;
}

Result<const TypeLayout*> DwarfTypes::find(std::string_view name) {
  const auto locked = lock();
  if (!locked)
    return Failure(locked.error());
  auto found = known_.find(name);
  if (found == known_.end()) {
    if (auto done = prepare(); !done)
      return forward(std::move(done));
    auto layout = look_up(name);
    if (!layout)
      return forward(std::move(layout));
    known_is_new_ = true;
    found = known_.emplace(std::string(name), std::move(*layout)).first;
    if (found->second)
      found->second->name = name;
  }
  return found->second ? &*found->second : nullptr;
}

std::vector<Error> DwarfTypes::warnings(std::size_t told) {
  const std::lock_guard lock(mutex_);
  return {warnings_.begin() + static_cast<std::ptrdiff_t>(told), warnings_.end()};
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
    for (const auto place : index_->find(kind, name)) {
      DwarfLayout layout(main, *index_, static_cast<unsigned>(elf_->platform().pointer_size));
      auto found = layout.of(place.file->die_at(place));
      if (main.faulty())
        return main.take_fault();
      if (!found)
        continue;
      return found;
    }
    if (main.faulty())
      return main.take_fault();
  }
  return std::nullopt;
}

namespace {

/// What one rank sees of them: warnings are said once to each.
class DwarfSource : public TypeSource {
public:
  explicit DwarfSource(std::shared_ptr<DwarfTypes> types) : types_(std::move(types)) {}

  Result<const TypeLayout*> find(std::string_view name) override { return types_->find(name); }
  std::vector<Error> take_warnings() override {
    auto warnings = types_->warnings(told_);
    told_ += warnings.size();
    return warnings;
  }

private:
  std::shared_ptr<DwarfTypes> types_;
  std::size_t told_ = 0;
};

} // namespace

Result<std::shared_ptr<TypeSource>> DwarfSources::open(const std::shared_ptr<const ElfFile>& file) {
  const std::lock_guard lock(mutex_);
  auto known = opened_.find(file);
  if (known == opened_.end())
    known = opened_.emplace(file, DwarfTypes::open(file, paths_)).first;
  if (!known->second)
    return Failure(known->second.error());
  return std::make_shared<DwarfSource>(*known->second);
}

Result<std::shared_ptr<TypeSource>> open_dwarf_types(const std::shared_ptr<const ElfFile>& file,
                                                     FilePaths paths) {
  return DwarfSources(std::move(paths)).open(file);
}

} // namespace mqbridge
