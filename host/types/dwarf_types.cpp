#include "host/types/dwarf_types.h"

#include "host/codes.h"
#include "host/disk/cache_records.h"
#include "host/disk/work_budget.h"
#include "host/types/layout_memo.h"
#include "host/types/type_indexer.h"
#include "host/types/type_names.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

constexpr RecordKind layouts_kind{"layouts", 1, std::uint64_t{64} << 20};
constexpr RecordKind names_kind{"type-names", 2, std::uint64_t{1} << 30};

} // namespace

/// The types of one file, for any number of sources. Thread-safe.
class DwarfTypes {
public:
  static Result<std::shared_ptr<DwarfTypes>> open(const std::shared_ptr<const ElfFile>& elf,
                                                  const FilePaths& paths,
                                                  const IndexerOptions& options);
  DwarfTypes(std::shared_ptr<const ElfFile> elf, FilePaths paths, IndexerOptions options)
      : elf_(std::move(elf)), paths_(std::move(paths)), options_(std::move(options)) {}
  /// Writes the results to the cache.
  ~DwarfTypes();
  DwarfTypes(const DwarfTypes&) = delete;
  DwarfTypes& operator=(const DwarfTypes&) = delete;

  Result<const TypeLayout*> find(std::string_view name);
  /// All warnings since it was opened, except the first `told`.
  std::vector<Error> warnings(std::size_t told);

private:
  Result<void> prepare_names();
  Result<void> start_indexer();
  Result<std::optional<TypeLayout>> look_up(const AskedName& asked);
  void load_known();
  Failure give_up(Error error);
  void take_warnings();

  std::shared_ptr<const ElfFile> elf_;
  FilePaths paths_;
  IndexerOptions options_;
  std::timed_mutex mutex_;
  std::unique_ptr<TypeIndexer> indexer_; // null: it is not needed yet, or not any more
  std::optional<TypeNames> names_;
  bool names_are_new_ = false; // no record has them
  std::optional<Error> broken_;
  std::vector<Error> warnings_;
  LayoutMemo known_; // never erased
  bool known_is_loaded_ = false;
  bool known_is_new_ = false;
};

Result<std::shared_ptr<DwarfTypes>> DwarfTypes::open(const std::shared_ptr<const ElfFile>& elf,
                                                     const FilePaths& paths,
                                                     const IndexerOptions& options) {
  if (!elf->has_dwarf())
    return fail("dwarf.none", fmt::format("{} has no DWARF", elf->path().string()),
                "install the debug symbols of its package, or compile it with -g");
  if (auto done = TypeIndexer::check(*elf); !done)
    return forward(std::move(done));
  return std::make_shared<DwarfTypes>(elf, paths, options);
}

// A layout that lacks a part is not kept: the next run may find it whole.
DwarfTypes::~DwarfTypes() {
  if (broken_ || !warnings_.empty())
    return;
  if (known_is_new_)
    CacheRecords(layouts_kind).store(elf_->identity(), to_bytes(known_));
  if (names_are_new_ && names_->lasting())
    CacheRecords(names_kind).store(elf_->identity(), names_->bytes());
}

Result<void> DwarfTypes::prepare_names() {
  if (broken_)
    return Failure(*broken_);
  if (names_)
    return {};
  if (auto record = CacheRecords(names_kind).load(elf_->identity()))
    names_ = TypeNames::from(std::move(*record));
  if (names_ && names_->lasting())
    return {};
  if (auto done = start_indexer(); !done)
    return done;
  auto names = indexer_->names();
  take_warnings();
  if (!names)
    return give_up(std::move(names).error());
  names_ = std::move(*names);
  names_are_new_ = true;
  return {};
}

Result<void> DwarfTypes::start_indexer() {
  if (indexer_)
    return {};
  auto started = TypeIndexer::start(options_, *elf_, paths_);
  if (!started)
    return give_up(std::move(started).error());
  indexer_ = std::move(*started);
  take_warnings();
  return {};
}

// After a lack of time the next caller begins again, since it may have more time. After any other
// error it would fail in the same way, and take as long.
Failure DwarfTypes::give_up(Error error) {
  indexer_.reset();
  if (names_ && !names_->lasting()) // the names' places are in that process's files
    names_.reset();
  if (!is_work_over(error))
    broken_ = error;
  return Failure(std::move(error));
}

// If the work was begun again for lack of time, it reports the same missing parts as before.
void DwarfTypes::take_warnings() {
  for (auto& warning : indexer_->take_warnings()) {
    const bool known = std::any_of(warnings_.begin(), warnings_.end(), [&](const Error& other) {
      return other.message == warning.message;
    });
    if (!known)
      warnings_.push_back(std::move(warning));
  }
}

void DwarfTypes::load_known() {
  if (std::exchange(known_is_loaded_, true))
    return;
  const auto record = CacheRecords(layouts_kind).load(elf_->identity());
  if (auto known = record ? layout_memo(*record) : std::nullopt)
    known_ = std::move(*known);
}

// Another rank may be indexing. That takes seconds, and this rank may have less time.
Result<const TypeLayout*> DwarfTypes::find(std::string_view name) {
  const auto locked = lock_in_time(mutex_);
  if (!locked)
    return Failure(locked.error());
  load_known();
  auto found = known_.find(name);
  if (found == known_.end()) {
    if (auto done = prepare_names(); !done)
      return forward(std::move(done));
    auto layout = look_up(AskedName(name));
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
  const auto locked = lock_in_time(mutex_);
  if (!locked) // there is no time to wait for another rank; its own find() has said so
    return {};
  return {warnings_.begin() + static_cast<std::ptrdiff_t>(told), warnings_.end()};
}

Result<std::optional<TypeLayout>> DwarfTypes::look_up(const AskedName& asked) {
  const bool anywhere = std::any_of(asked.kinds.begin(), asked.kinds.end(), [&](NameKind kind) {
    return !names_->find(kind, asked.name).empty();
  });
  if (!anywhere) {
    // Closes the process of a file in which nobody found anything, which is true for most files of
    // a job.
    if (names_->lasting())
      indexer_.reset();
    return std::nullopt;
  }
  if (auto done = start_indexer(); !done)
    return forward(std::move(done));
  auto layout = indexer_->layout(asked, *names_);
  // One type that is corrupt does not hide the others.
  if (!layout && layout.error().code != codes::dwarf_corrupt)
    return give_up(std::move(layout).error());
  return layout;
}

namespace {

/// The view of one rank: each rank gets each warning once.
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
  if (known == opened_.end() && opened_.size() >= most_files)
    std::erase_if(
        opened_, [](const auto& entry) { return !entry.second || entry.second->use_count() == 1; });
  if (known == opened_.end())
    known = opened_.emplace(file, DwarfTypes::open(file, paths_, options_)).first;
  if (!known->second)
    return Failure(known->second.error());
  return std::make_shared<DwarfSource>(*known->second);
}

Result<std::shared_ptr<TypeSource>> open_dwarf_types(const std::shared_ptr<const ElfFile>& file,
                                                     FilePaths paths, IndexerOptions options) {
  return DwarfSources(std::move(paths), std::move(options)).open(file);
}

} // namespace mqbridge
