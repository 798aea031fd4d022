#include "host/mpi/openmpi/pack_maker.h"

#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/types_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace mqbridge::openmpi {
namespace {

Result<void> refuse(const TypeComparison& comparison, const std::string& libmpi) {
  if (comparison.fits())
    return {};
  if (!comparison.missing.empty())
    return fail("types.mismatch", fmt::format("types that {} needs are not known: {}", libmpi,
                                              fmt::join(comparison.missing, ", ")));
  if (!comparison.unstated.empty())
    return fail("types.no_library",
                fmt::format("nothing states the sizes of {}: there is no mca_pml_ob1.so beside {}",
                            fmt::join(comparison.unstated, ", "), libmpi),
                "name the library of an installation that has its plugins: --library PATH");
  if (comparison.compared == 0)
    return fail("types.mismatch", fmt::format("{} states no sizes of Open MPI's types", libmpi));
  return fail("types.mismatch",
              fmt::format("the headers are not those of {}: {}", libmpi,
                          fmt::join(comparison.mismatches, "; ")),
              "give the headers of this library's own version with --include DIR");
}

Result<void> check_fit(TypeSource& types, const Libraries& libraries, bool with_ob1) {
  const auto& libmpi = libraries.front()->path().string();
  auto comparison = check_types(types, libraries);
  if (!comparison)
    return forward(std::move(comparison));
  if (auto done = refuse(*comparison, libmpi); !done || !with_ob1)
    return done;
  comparison = check_ob1_types(types, libraries);
  if (!comparison)
    return forward(std::move(comparison));
  return refuse(*comparison, libmpi);
}

TypeLayout layout_of(const TypeLayout& type) {
  TypeLayout layout = type;
  // A bit-field's storage unit may reach behind a packed type: then the unit's size is not that of
  // the field.
  for (auto& field : layout.fields) {
    if (field.size > layout.size - field.offset)
      field.size = 0;
  }
  return layout;
}

/// The fields of all types that are read.
Result<void> add_fields(TypePack& pack, TypeSource& types, bool with_ob1) {
  std::vector<std::string_view> whole(needed_types().begin(), needed_types().end());
  if (with_ob1)
    whole.insert(whole.end(), ob1_types().begin(), ob1_types().end());
  whole.insert(whole.end(), tool_types().begin(), tool_types().end());
  for (const auto name : whole) {
    auto found = types.find(name);
    if (!found)
      return forward(std::move(found));
    if (*found != nullptr) // else it is one of tool_types(): all others are known to be there
      pack.types.push_back(layout_of(**found));
  }
  return {};
}

} // namespace

Result<TypePack> make_pack(TypeSource& types, const Libraries& libraries, bool with_ob1) {
  if (auto done = check_fit(types, libraries, with_ob1); !done)
    return forward(std::move(done));
  const auto& libmpi = *libraries.front();
  TypePack pack;
  pack.mpi = "openmpi";
  pack.version = library_version(libmpi).value_or("");
  pack.library = libmpi.soname();
  pack.build_id = libmpi.build_id();
  pack.architecture = libmpi.platform().architecture;
  pack.byte_order = libmpi.platform().byte_order;
  pack.pointer_size = libmpi.platform().pointer_size;
  if (auto done = add_fields(pack, types, with_ob1); !done)
    return forward(std::move(done));

  std::set<std::string, std::less<>> written;
  for (const auto& type : pack.types)
    written.insert(type.name);
  for (const auto& fact : size_facts(libraries)) {
    auto found = types.find(fact.type);
    if (!found)
      return forward(std::move(found));
    if (*found == nullptr || !written.insert(fact.type).second)
      continue;
    pack.types.push_back({fact.type, (*found)->size, {}});
  }
  return pack;
}

Result<TypePack> make_pack_of_version(const TypesFile& types, std::string version) {
  const TypeFinder find = [&](std::string_view name) { return types.source->find(name); };
  for (const auto compare : {compare_types, compare_ob1_types}) {
    const auto comparison = compare(find, {});
    if (!comparison)
      return Failure(comparison.error());
    if (!comparison->missing.empty())
      return fail("types.mismatch", fmt::format("the source of Open MPI {} lacks types: {}",
                                                version, fmt::join(comparison->missing, ", ")));
  }
  TypePack pack;
  pack.mpi = "openmpi";
  pack.version = std::move(version);
  pack.architecture = types.architecture;
  pack.byte_order = types.byte_order;
  pack.pointer_size = types.pointer_size;
  if (auto done = add_fields(pack, *types.source, true); !done)
    return forward(std::move(done));
  return pack;
}

} // namespace mqbridge::openmpi
