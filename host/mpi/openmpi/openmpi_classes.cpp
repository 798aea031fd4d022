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
    // Those of mca_pml_base_selected_component, whose size the symbol states.
    std::string_view("mca_pml_base_component_t"),
    std::string_view("mca_base_component_t"),
};

struct NeededField {
  std::string_view type;
  std::string_view field;
};

// Fields that the repairs read themselves. The DLL reads further ones, which differ between
// versions; the DLL itself says which.
constexpr std::array repair_fields = {
    NeededField{"ompi_request_t", "req_complete"},
};

// Types for reading ob1, in its sources' order (ompi/mca/pml/ob1, opal/mca/btl, opal/threads).
constexpr std::array types_of_ob1 = {
    std::string_view("mca_pml_ob1_comm_t"),
    std::string_view("mca_pml_ob1_comm_proc_t"),
    std::string_view("mca_pml_ob1_recv_frag_t"),
    std::string_view("mca_pml_ob1_hdr_t"),
    std::string_view("mca_pml_ob1_common_hdr_t"),
    std::string_view("mca_pml_ob1_match_hdr_t"),
    std::string_view("mca_pml_ob1_rendezvous_hdr_t"),
    std::string_view("mca_btl_base_segment_t"),
    std::string_view("ompi_wait_sync_t"),
};

// Types for reading MPI_T's variables (opal/mca/base), then types that handles lead to. The last
// four need Open MPI's source.
constexpr std::array types_of_tools = {
    std::string_view("opal_object_t"),
    std::string_view("opal_class_t"),
    std::string_view("opal_value_array_t"),
    std::string_view("mca_base_var_t"),
    std::string_view("mca_base_var_file_value_t"),
    std::string_view("mca_base_pvar_t"),
    std::string_view("mca_base_var_group_t"),
    std::string_view("mca_base_var_enum_t"),
    std::string_view("mca_base_var_enum_value_t"),
    std::string_view("mca_base_var_enum_flag_t"),
    std::string_view("mca_base_var_enum_value_flag_t"),
    std::string_view("opal_mutex_t"),
    std::string_view("opal_infosubscriber_t"),
    std::string_view("opal_proc_t"),
    std::string_view("ompi_proc_t"),
    std::string_view("ompi_errhandler_t"),
    std::string_view("ompi_grequest_t"),
    std::string_view("ompi_win_t"),
    std::string_view("ompi_file_t"),
    std::string_view("ompi_info_t"),
    std::string_view("ompi_message_t"),
    std::string_view("ompi_attribute_keyval_t"),
    std::string_view("ompi_coll_base_nbc_request_t"),
    std::string_view("ompi_coll_libnbc_component_t"),
    std::string_view("ompi_coll_libnbc_request_t"),
    std::string_view("mca_pml_ob1_recv_request_t"),
};

// Types of ob1 whose objects have a class, which states their size.
constexpr std::array classes_of_ob1 = {
    std::string_view("mca_pml_ob1_comm_t"),
    std::string_view("mca_pml_ob1_comm_proc_t"),
    std::string_view("mca_pml_ob1_recv_frag_t"),
};

Result<void> add_missing(const TypeFinder& find, std::span<const std::string_view> types,
                         std::span<const NeededField> fields, std::vector<std::string>& missing) {
  for (const auto name : types) {
    auto found = find(name);
    if (!found)
      return forward(std::move(found));
    if (*found == nullptr) {
      missing.emplace_back(name);
      continue;
    }
    for (const auto& needed : fields) {
      if (needed.type == name && (*found)->find_field(needed.field) == nullptr)
        missing.push_back(fmt::format("{}.{}", needed.type, needed.field));
    }
  }
  return {};
}

/// Types that end in an array, as long as the number of components that were built: nothing behind
/// it is read, and their sizes differ between builds of one version.
constexpr std::array open_ended = {std::string_view("ompi_proc_t")};

Result<void> compare_sizes(const TypeFinder& find, std::span<const SizeFact> facts, TypesOf owner,
                           TypeComparison& comparison) {
  for (const auto& fact : facts) {
    if (owner_of(fact.type) != owner ||
        std::ranges::find(open_ended, fact.type) != open_ended.end())
      continue;
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
  return {};
}

} // namespace

std::span<const std::string_view> needed_types() {
  return dll_types;
}

std::span<const std::string_view> ob1_types() {
  return types_of_ob1;
}

std::span<const std::string_view> tool_types() {
  return types_of_tools;
}

TypesOf owner_of(std::string_view type) {
  return type.starts_with("mca_pml_ob1_") ? TypesOf::ob1 : TypesOf::library;
}

bool is_unlisted_request(std::string_view type) {
  // ob1's own requests are in the lists, and those of nonblocking collectives show by the messages
  // that these send and receive.
  constexpr auto shown = std::to_array<std::string_view>(
      {"ompi_request_t", "mca_pml_base_request_t", "mca_pml_base_send_request_t",
       "mca_pml_base_recv_request_t", "mca_pml_ob1_send_request_t", "mca_pml_ob1_recv_request_t",
       "ompi_coll_base_nbc_request_t", "ompi_coll_libnbc_request_t", "ompi_comm_request_t",
       "mca_part_persist_psend_request_t", "mca_part_persist_precv_request_t"});
  // Open MPI 5 makes some partitioned requests in advance. For each one that the program asks for,
  // it makes an object of another class, too.
  if (type == "mca_part_persist_list_t")
    return true;
  // The run-time system has requests of its own (pmix_server_req_t); UCC's are mca_coll_ucc_req_t.
  const bool is_collective = type.starts_with("mca_coll_") && type.ends_with("_req_t");
  return is_collective ||
         (type.ends_with("request_t") && std::ranges::find(shown, type) == shown.end());
}

std::vector<ClassSymbol> class_symbols(const ElfFile& file) {
  std::vector<ClassSymbol> classes;
  const int word = file.platform().size_t_size;
  for (const auto* symbol : file.symbols_ending_with(class_suffix)) {
    if (symbol->is_function || symbol->is_local || symbol->size < static_cast<unsigned>(word))
      continue;
    std::string_view type = symbol->name;
    type.remove_suffix(class_suffix.size() - std::string_view("_t").size());
    // Four pointers stand before cls_initialized.
    const auto pointers = 4U * static_cast<unsigned>(file.platform().pointer_size);
    classes.push_back({type,
                       {symbol->address.value + symbol->size - static_cast<unsigned>(word)},
                       {symbol->address.value + pointers},
                       word});
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
  if (auto done = add_missing(find, dll_types, repair_fields, comparison.missing); !done)
    return forward(std::move(done));
  if (auto done = compare_sizes(find, facts, TypesOf::library, comparison); !done)
    return forward(std::move(done));
  return comparison;
}

Result<TypeComparison> compare_ob1_types(const TypeFinder& find, std::span<const SizeFact> facts) {
  TypeComparison comparison;
  if (auto done = add_missing(find, types_of_ob1, {}, comparison.missing); !done)
    return forward(std::move(done));
  if (auto done = compare_sizes(find, facts, TypesOf::ob1, comparison); !done)
    return forward(std::move(done));
  for (const auto name : classes_of_ob1)
    if (std::ranges::find(facts, name, &SizeFact::type) == facts.end())
      comparison.unstated.emplace_back(name);
  return comparison;
}

} // namespace mqbridge::openmpi
