#include "host/stacks/unwinder/scopes.h"

#include "host/stacks/unwinder/function_name.h"

#include <algorithm>
#include <cstdlib>
#include <dwarf.h>
#include <string_view>

namespace mqbridge::unwinder {
namespace {

/// Compilers do not nest as deep as this.
constexpr int deepest = 256;

bool is_fortran(int language) {
  switch (language) {
  case DW_LANG_Fortran77:
  case DW_LANG_Fortran90:
  case DW_LANG_Fortran95:
  case DW_LANG_Fortran03:
  case DW_LANG_Fortran08:
    return true;
  default:
    return false;
  }
}

bool is_cplusplus(int language) {
  switch (language) {
  case DW_LANG_C_plus_plus:
  case DW_LANG_C_plus_plus_03:
  case DW_LANG_C_plus_plus_11:
  case DW_LANG_C_plus_plus_14:
    return true;
  default:
    return false;
  }
}

/// The declaration of the function of which `die` is a definition or a copy.
Dwarf_Die declaration_of(Dwarf_Die die) {
  constexpr int longest_way = 8;
  for (int i = 0; i < longest_way; ++i) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    auto* link = ::dwarf_attr(&die, DW_AT_abstract_origin, &attribute);
    if (link == nullptr)
      link = ::dwarf_attr(&die, DW_AT_specification, &attribute);
    if (link == nullptr || ::dwarf_formref_die(link, &next) == nullptr)
      break;
    die = next;
  }
  return die;
}

/// "halo::(anonymous namespace)::": the scopes in which a C++ function is declared. The whole unit
/// is searched, so only functions without a linkage name ask, which no other file can call.
std::string enclosing_scopes(Dwarf_Die& die) {
  auto declaration = declaration_of(die);
  Dwarf_Die* scopes = nullptr;
  const int count = ::dwarf_getscopes_die(&declaration, &scopes);
  std::string names;
  for (int i = 1; i < count; ++i) {
    const char* name = ::dwarf_diename(&scopes[i]);
    switch (::dwarf_tag(&scopes[i])) {
    case DW_TAG_namespace:
      names.insert(0, name != nullptr ? std::string(name) + "::" : "(anonymous namespace)::");
      break;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      names.insert(0, name != nullptr ? std::string(name) + "::" : "");
      break;
    default:
      break;
    }
  }
  if (count > 0)
    std::free(scopes);
  return names;
}

std::string_view linkage_name(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (const char* text = ::dwarf_formstring(::dwarf_attr_integrate(&die, name, &attribute)))
      return text;
  return {};
}

/// Looks for the code at one address, down the tree of a unit's DIEs.
class Search {
public:
  Search(std::uint64_t address, int language)
      : address_(address), fortran_(is_fortran(language)), cplusplus_(is_cplusplus(language)) {}

  /// Whether the code is below `parent`; then take() has the way to it.
  bool look_below(Dwarf_Die& parent, const std::string& prefix, int depth = 0) {
    Dwarf_Die child;
    if (depth == deepest || ::dwarf_child(&parent, &child) != 0)
      return false;
    do {
      if (has_code(child) && ::dwarf_haspc(&child, address_) > 0) {
        enter(child, prefix, depth);
        return true;
      }
    } while (::dwarf_siblingof(&child, &child) == 0);
    return look_into_containers(parent, prefix, depth);
  }

  std::vector<Scope> take() {
    std::ranges::reverse(found_);
    return std::move(found_);
  }

private:
  static bool has_code(Dwarf_Die& die) {
    switch (::dwarf_tag(&die)) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_entry_point:
      return true;
    default:
      return false;
    }
  }

  /// Whether the DIE has no code of its own, or not the code of the functions in it.
  bool is_container(Dwarf_Die& die) const {
    switch (::dwarf_tag(&die)) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
      return true;
    case DW_TAG_subprogram: // its contained procedures are below it, even if it is inlined itself
      return fortran_;
    default:
      return false;
    }
  }

  bool look_into_containers(Dwarf_Die& parent, const std::string& prefix, int depth) {
    Dwarf_Die child;
    if (::dwarf_child(&parent, &child) != 0)
      return false;
    do {
      if (is_container(child) && ::dwarf_haschildren(&child) > 0 &&
          look_below(child, inner_prefix(child, prefix), depth + 1))
        return true;
    } while (::dwarf_siblingof(&child, &child) == 0);
    return false;
  }

  void enter(Dwarf_Die& die, const std::string& prefix, int depth) {
    const int tag = ::dwarf_tag(&die);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
      found_.push_back({die, name(die, prefix)});
    look_below(die, prefix, depth + 1);
  }

  std::string inner_prefix(Dwarf_Die& container, const std::string& prefix) const {
    const char* name = fortran_ ? ::dwarf_diename(&container) : nullptr;
    return name != nullptr ? prefix + name + "::" : prefix;
  }

  std::optional<std::string> name(Dwarf_Die& die, const std::string& prefix) const {
    const auto linkage = linkage_name(die);
    if (linkage.starts_with("_Z") || linkage.find("_MOD_") != std::string_view::npos)
      return function_name(linkage);
    if (const char* text = ::dwarf_diename(&die))
      return (cplusplus_ ? enclosing_scopes(die) : prefix) + text;
    return linkage.empty() ? std::nullopt : std::optional(function_name(linkage));
  }

  std::uint64_t address_;
  bool fortran_;
  bool cplusplus_;
  std::vector<Scope> found_; ///< outermost first
};

} // namespace

std::vector<Scope> scopes_at(Dwarf_Die& unit, std::uint64_t address) {
  Search search(address, ::dwarf_srclang(&unit));
  search.look_below(unit, "");
  return search.take();
}

} // namespace mqbridge::unwinder
