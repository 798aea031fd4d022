#include "host/mpi/mpi_roots.h"

#include "host/memory/page_store.h"
#include "host/mpi/openmpi/openmpi_classes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

/// Read by mqbridge itself (mpi_library.h, mpi_support.h), by the debug DLLs, and by the repairs.
constexpr auto roots = std::to_array<std::string_view>({
    // of any MPI (MPI Forum, MQD interface)
    "MPIR_dll_name",
    "MPIR_debug_state",
    "MPIR_debug_typedefs_sizeof",
    // Open MPI
    "ompi_version_string",
    "ompi_mpi_state",
    "mca_pml_base_selected_component",
    "ompi_mpi_communicators",
    "ompi_mpi_windows",
    "mca_pml_base_send_requests",
    "mca_pml_base_recv_requests",
    "ompi_mpi_comm_world",
    "ompi_mpi_comm_self",
    "ompi_mpi_comm_null",
    "ompi_mpi_comm_parent",
    "ompi_mpi_group_null",
    "ompi_mpi_group_empty",
    "ompi_request_null",
    "ompi_request_empty",
    // MPICH
    "MPII_Version_string",
    "MPII_Version_device",
    "MPIR_Process",
    "MPIR_All_communicators",
    "MPIR_Sendq_head",
    "MPIR_Recvq_head",
    "MPIR_Unexpq_head",
    "MPID_Recvq_posted_head_ptr",
    "MPID_Recvq_unexpected_head_ptr",
    // the recorder
    "mqbridge_recorder_version",
    "mqbridge_recorder",
});
/// Of a symbol that states more the rest is read when it is asked for: sizes come from a file.
constexpr std::uint64_t largest = std::uint64_t{1} << 20;

void add(std::vector<std::uint64_t>& pages, TargetAddress address, std::uint64_t size) {
  const auto last = address.value + std::clamp<std::uint64_t>(size, 1, largest) - 1;
  for (auto page = address.value / PageStore::page_size; page <= last / PageStore::page_size;
       ++page)
    pages.push_back(page);
}

/// Open MPI's own libraries; its plugins have classes without end, of which nothing is asked.
bool is_library_of_openmpi(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libmpi") || name.starts_with("libopen-");
}

/// What types are compared with. A program may have all of Open MPI linked into it.
void add_class_sizes(std::vector<std::uint64_t>& pages, const Image& image) {
  const auto words = openmpi::class_symbols(*image.file);
  const auto needed = openmpi::needed_types();
  const bool all = is_library_of_openmpi(image.target_path);
  for (const auto& word : words)
    if (all || std::find(needed.begin(), needed.end(), word.type) != needed.end())
      add(pages, image.bias(word.size_word), static_cast<std::uint64_t>(word.size_word_size));
}

} // namespace

PageRuns mpi_root_pages(const ImageSet& images) {
  std::vector<std::uint64_t> pages;
  for (const auto name : roots)
    if (const auto symbol = images.find_symbol(name))
      add(pages, symbol->address, symbol->size);
  for (const auto& image : images.images())
    if (image.file)
      add_class_sizes(pages, image);
  return runs_of(std::move(pages));
}

} // namespace mqbridge
