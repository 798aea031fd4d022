#include "host/mpi/mpi_function.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace mqbridge {
namespace {

constexpr std::size_t longest_name = 64; // MPI_File_get_type_extent and its like have under 40

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

/// Removes the ending of a compiler's clone: GCC's clones have a dot.
std::string_view without_clone(std::string_view name) {
  return name.substr(0, name.find('.'));
}

/// Removes the ending that bindings for Fortran add.
std::string_view without_binding(std::string_view name) {
  constexpr std::array<std::string_view, 6> endings = {"_f08ts_", "_f08ts", "_f08_",
                                                       "_f08",    "__",     "_"};
  for (const auto ending : endings)
    if (name.ends_with(ending))
      return name.substr(0, name.size() - ending.size());
  return name;
}

/// "MPI_Comm_create" from any spelling: only the first letter behind the prefix is a capital.
std::string spelled_as_in_c(std::string_view behind_prefix) {
  std::string name = "MPI_";
  for (const char letter : behind_prefix)
    name += lower(letter);
  name[4] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[4])));
  return name;
}

/// The names in C that a function may stand for: its own name (MPI_Recv_c, which MPI 4 brought,
/// ends like a binding), and its name without a binding's ending.
std::vector<std::string> names_in_c(std::string_view function) {
  constexpr std::string_view prefix = "mpi_";
  auto name = without_clone(function);
  if (name.starts_with('P') || name.starts_with('p'))
    name.remove_prefix(1);
  const bool may_be = name.size() > prefix.size() && name.size() <= longest_name &&
                      std::ranges::equal(name.substr(0, prefix.size()), prefix, {}, lower);
  if (!may_be)
    return {};
  return {std::string(name), spelled_as_in_c(without_binding(name).substr(prefix.size()))};
}

} // namespace

std::optional<std::string> mpi_function(std::string_view function, bool in_mpi,
                                        const ElfFile& library) {
  for (auto& name : names_in_c(function)) {
    const auto* const symbol = library.find_symbol("P" + name);
    if (symbol == nullptr || !symbol->is_function)
      continue;
    const bool as_in_c = function.starts_with("MPI_") || function.starts_with("PMPI_");
    const auto spelled = without_clone(function);
    if (in_mpi || (as_in_c && spelled.ends_with(name)) || spelled.ends_with('_'))
      return std::move(name);
  }
  return std::nullopt;
}

bool is_for_c(std::string_view function, std::string_view mpi_function) {
  const auto name = without_clone(function);
  return name == mpi_function || (name.starts_with('P') && name.substr(1) == mpi_function);
}

bool spells(std::string_view function, std::string_view mpi_function) {
  const auto names = names_in_c(function);
  return std::ranges::find(names, mpi_function) != names.end();
}

} // namespace mqbridge
