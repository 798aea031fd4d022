#include "host/dump/rank/select_types.h"

#include "host/codes.h"
#include "host/elf/elf_file.h"
#include "host/mpi/mpi_support.h"
#include "host/types/pack_finder.h"
#include "host/types/types_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge {
namespace {

std::string library_name(const MpiLibrary& mpi) {
  if (mpi.image == nullptr || !mpi.image->file)
    return "the MPI library";
  const auto& id = mpi.image->file->build_id();
  return fmt::format("{} (build-id {})", mpi.image->target_path, id.empty() ? "none" : id);
}

std::string build_id(const MpiLibrary& mpi) {
  return mpi.image != nullptr && mpi.image->file ? mpi.image->file->build_id() : std::string{};
}

Result<const TypeLayout*> find_in(std::span<const std::shared_ptr<TypeSource>> sources,
                                  std::string_view type) {
  for (const auto& source : sources) {
    auto found = source->find(type);
    if (!found || *found != nullptr)
      return found;
  }
  return nullptr;
}

/// Tries one source after the other, and compares each with the sizes that the running library
/// states.
class Selection {
public:
  Selection(const AddressSpace& space, const MpiLibrary& mpi, Warnings& warnings)
      : space_(space), mpi_(mpi), support_(support_of(mpi.provider)), warnings_(warnings) {}

  Result<TypesChoice> choose(std::span<const std::filesystem::path> given,
                             std::span<const std::filesystem::path> pack_directories,
                             const std::function<bool()>& find_debug_information) {
    auto choice = from_files(given);
    if (!choice)
      return forward(std::move(choice));
    if (*choice)
      return std::move(**choice);
    return from_packs_or_images(pack_directories, find_debug_information);
  }

private:
  /// nullopt: none is given, or none is for this platform (each has its warning then).
  Result<std::optional<TypesChoice>> from_files(std::span<const std::filesystem::path> files) {
    bool same_build = true;
    std::vector<std::string> names;
    std::vector<std::shared_ptr<TypeSource>> sources;
    Warnings of_others; // in a dump of several platforms each has its own files
    for (const auto& file : files) {
      auto types = read_types_file(file, space_.images.indexer());
      if (!types)
        return forward(std::move(types));
      if (!types->is_for(space_.platform)) {
        of_others.push_back(other_platform(file, *types));
        continue;
      }
      sources.push_back(types->source);
      names.push_back(file.filename().string());
      const auto made_for = types->source->build_id();
      same_build = same_build && !made_for.empty() && made_for == build_id(mpi_);
    }
    if (sources.empty()) {
      warnings_.insert(warnings_.end(), of_others.begin(), of_others.end());
      return std::nullopt;
    }
    auto fitting = fits([&](std::string_view type) { return find_in(sources, type); });
    if (!fitting)
      return forward(std::move(fitting));
    if (!check_.mismatches.empty())
      return mismatch(fmt::format("{}", fmt::join(names, ", ")));
    if (!*fitting)
      return missing();
    for (const auto& source : sources)
      space_.images.add_type_source(source);
    return TypesChoice{fmt::format("{}", fmt::join(names, ", ")),
                       same_build ? TypesMatch::exact : TypesMatch::version};
  }

  Result<TypesChoice> from_packs_or_images(std::span<const std::filesystem::path> directories,
                                           const std::function<bool()>& find_debug_information) {
    // The pack comes first, although DWARF would say the same: to find that a stripped library's
    // types are nowhere, all other loaded objects would be indexed while the process stands still.
    auto same_build = find_pack(directories, build_id(mpi_));
    if (!same_build)
      return forward(std::move(same_build));
    if (*same_build)
      return use(std::move(**same_build), TypesMatch::exact);

    const auto find = [&](std::string_view type) { return space_.images.find_type(type); };
    auto fitting = fits(find);
    const bool unknown = fitting && !*fitting && check_.mismatches.empty();
    if (unknown && find_debug_information())
      fitting = fits(find);
    if (!fitting)
      return forward(std::move(fitting));
    if (*fitting)
      return TypesChoice{"dwarf", TypesMatch::exact};
    if (!check_.mismatches.empty())
      return mismatch("the debug information of the loaded objects");

    return of_another_build(directories);
  }

  Result<TypesChoice> of_another_build(std::span<const std::filesystem::path> directories) {
    auto packs = find_packs_by_version(directories, mpi_.provider, mpi_.version.value_or(""),
                                       space_.platform);
    if (!packs)
      return forward(std::move(packs));
    const TypesCheck without = check_;
    for (FoundPack& found : *packs) {
      const auto name = found.path.filename().string();
      const auto version = found.pack.version;
      auto choice = use(std::move(found), TypesMatch::version);
      if (choice) {
        warnings_.push_back(other_build(name, version));
        return choice;
      }
      // A pack of another release need not fit.
      if (version == mpi_.version || check_.mismatches.empty())
        return choice;
      tried_.push_back(fmt::format("{} ({})", name, check_.mismatches.front()));
    }
    check_ = without;
    return missing();
  }

  Result<TypesChoice> use(FoundPack found, TypesMatch match) {
    const auto name = found.path.filename().string();
    auto source = type_source(std::move(found.pack));
    // Only the pack is asked: a type that it lacks would be looked for in all loaded objects.
    auto fitting = fits([&](std::string_view type) { return source->find(type); });
    if (!fitting)
      return forward(std::move(fitting));
    if (!*fitting)
      return check_.mismatches.empty() ? missing() : mismatch(name);
    space_.images.add_type_source(source);
    return TypesChoice{"pack " + name, match};
  }

  Result<bool> fits(const TypeFinder& find) {
    auto check = support_.check_types(find, space_);
    if (!check)
      return forward(std::move(check));
    check_ = std::move(*check);
    return check_.fit;
  }

  Error other_build(const std::string& pack, const std::string& version) const {
    const auto of = version == mpi_.version ? "of the same version"
                                            : fmt::format("of the release {} and not {}", version,
                                                          mpi_.version.value_or(""));
    return {codes::types_other_build,
            fmt::format("{} is a build that no pack was made for; {}, {}, is used: {} sizes that "
                        "the running library states agree with it",
                        library_name(mpi_), pack, of, check_.compared),
            support_.types_hint(mpi_, space_.platform)};
  }

  Error other_platform(const std::filesystem::path& file, const TypesFile& types) const {
    const auto describe = [](const std::string& architecture, ByteOrder order, int pointer_size) {
      return fmt::format("{} ({}-endian, {}-byte pointers)", architecture,
                         order == ByteOrder::little ? "little" : "big", pointer_size);
    };
    return {"types.other_platform",
            fmt::format("{} is for {}, and not used: the target is {}", file.filename().string(),
                        describe(types.architecture, types.byte_order, types.pointer_size),
                        describe(space_.platform.architecture, space_.platform.byte_order,
                                 space_.platform.pointer_size)),
            support_.types_hint(mpi_, space_.platform)};
  }

  Failure mismatch(const std::string& source) const {
    return fail("types.mismatch",
                fmt::format("the types of {} are not those of {}: {}", source, library_name(mpi_),
                            fmt::join(check_.mismatches, "; ")),
                support_.types_hint(mpi_, space_.platform));
  }

  Failure missing() const {
    constexpr std::size_t shown = 4;
    const auto first = std::span(check_.missing).first(std::min(shown, check_.missing.size()));
    return fail(
        codes::types_missing,
        fmt::format("{} has no DWARF, and no pack of types matches{}; missing are {}{}",
                    library_name(mpi_),
                    tried_.empty() ? "" : fmt::format(", not {}", fmt::join(tried_, ", not ")),
                    fmt::join(first, ", "), check_.missing.size() > shown ? ", ..." : ""),
        support_.types_hint(mpi_, space_.platform));
  }

  AddressSpace space_;
  const MpiLibrary& mpi_;
  const MpiSupport& support_;
  Warnings& warnings_;
  TypesCheck check_;               ///< of the last source tried
  std::vector<std::string> tried_; ///< packs of other releases that do not fit, and why not
};

} // namespace

Result<TypesChoice> select_types(const AddressSpace& space, const MpiLibrary& mpi,
                                 std::span<const std::filesystem::path> given,
                                 std::span<const std::filesystem::path> pack_directories,
                                 const std::function<bool()>& find_debug_information,
                                 Warnings& warnings) {
  Selection selection(space, mpi, warnings);
  auto choice = selection.choose(given, pack_directories, find_debug_information);
  for (auto& warning : space.images.take_type_warnings())
    warnings.push_back(std::move(warning));
  return choice;
}

} // namespace mqbridge
