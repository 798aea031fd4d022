#include "host/mpi/openmpi/openmpi_classes.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::openmpi {
namespace {

constexpr std::string_view class_suffix = "_t_class";

// The names in libompi_dbg_msgq.so's own look-ups (ompi_fill_in_type_info), in its order.
constexpr std::array dll_types = {
    std::string_view("opal_list_item_t"),
    std::string_view("opal_list_t"),
    std::string_view("opal_free_list_item_t"),
    std::string_view("opal_free_list_t"),
    std::string_view("opal_hash_table_t"),
    std::string_view("ompi_request_t"),
    std::string_view("mca_pml_base_request_t"),
    std::string_view("mca_pml_base_send_request_t"),
    std::string_view("mca_pml_base_recv_request_t"),
    std::string_view("opal_pointer_array_t"),
    std::string_view("ompi_communicator_t"),
    std::string_view("mca_topo_base_module_t"),
    std::string_view("mca_topo_base_comm_cart_2_2_0_t"),
    std::string_view("mca_topo_base_comm_graph_2_2_0_t"),
    std::string_view("mca_topo_base_comm_dist_graph_2_2_0_t"),
    std::string_view("ompi_group_t"),
    std::string_view("ompi_status_public_t"),
    std::string_view("ompi_datatype_t"),
    std::string_view("opal_datatype_t"),
    // For the name of the selected PML:
    // mca_pml_base_selected_component.pmlm_version.mca_component_name.
    std::string_view("mca_pml_base_component_t"),
    std::string_view("mca_base_component_t"),
};

struct NeededField {
  std::string_view type;
  std::string_view field;
};

// Fields that the repairs read themselves. What else the DLL reads differs between versions: it
// says so by itself.
constexpr std::array repair_fields = {
    NeededField{"ompi_request_t", "req_complete"},
    NeededField{"mca_pml_base_component_t", "pmlm_version"},
    NeededField{"mca_base_component_t", "mca_component_name"},
};

Result<void> add_missing(const TypeFinder& find, std::vector<std::string>& missing) {
  for (const auto name : needed_types()) {
    auto found = find(name);
    if (!found)
      return forward(std::move(found));
    if (*found == nullptr) {
      missing.emplace_back(name);
      continue;
    }
    for (const auto& needed : repair_fields) {
      if (needed.type == name && (*found)->find_field(needed.field) == nullptr)
        missing.push_back(fmt::format("{}.{}", needed.type, needed.field));
    }
  }
  return {};
}

} // namespace

std::span<const std::string_view> needed_types() {
  return dll_types;
}

std::vector<ClassSymbol> class_symbols(const ElfFile& file) {
  std::vector<ClassSymbol> classes;
  const int word = file.platform().size_t_size;
  for (const auto* symbol : file.symbols_ending_with(class_suffix)) {
    if (symbol->is_function || symbol->is_local || symbol->size < static_cast<unsigned>(word))
      continue;
    std::string_view type = symbol->name;
    type.remove_suffix(class_suffix.size() - std::string_view("_t").size());
    classes.push_back(
        {type, {symbol->address.value + symbol->size - static_cast<unsigned>(word)}, word});
  }
  return classes;
}

std::vector<SizeFact> symbol_sizes(const ElfFile& file) {
  std::vector<SizeFact> facts;
  for (const auto& sized : sized_symbols) {
    const auto* symbol = file.find_symbol(sized.symbol);
    if (symbol == nullptr || symbol->size == 0)
      continue;
    facts.push_back({std::string(sized.type), symbol->size, std::string(sized.symbol)});
  }
  return facts;
}

Result<TypeComparison> compare_types(const TypeFinder& find, std::span<const SizeFact> facts) {
  TypeComparison comparison;
  if (auto done = add_missing(find, comparison.missing); !done)
    return forward(std::move(done));
  for (const auto& fact : facts) {
    auto found = find(fact.type);
    if (!found)
      return forward(std::move(found));
    if (*found == nullptr)
      continue;
    ++comparison.compared;
    if ((*found)->size == fact.size)
      continue;
    comparison.mismatches.push_back(fmt::format("{}: {} bytes, the library says {} ({})", fact.type,
                                                (*found)->size, fact.size, fact.symbol));
  }
  return comparison;
}

} // namespace mqbridge::openmpi
