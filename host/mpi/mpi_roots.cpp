#include "host/mpi/mpi_roots.h"

#include "host/memory/page_store.h"
#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

/// Symbols of any MPI (MPI Forum, MQD interface).
constexpr auto common_roots = std::to_array<std::string_view>(
    {"MPIR_dll_name", "MPIR_debug_state", "MPIR_debug_typedefs_sizeof"});

/// Bytes of one symbol that are read ahead. A file states the sizes and may be wrong: the rest is
/// read when it is asked for.
constexpr std::uint64_t largest = std::uint64_t{1} << 20;

void add(std::vector<std::uint64_t>& pages, TargetAddress address, std::uint64_t size) {
  const auto last = address.value + std::clamp<std::uint64_t>(size, 1, largest) - 1;
  for (auto page = address.value / PageStore::page_size; page <= last / PageStore::page_size;
       ++page)
    pages.push_back(page);
}

void add_symbols(std::vector<std::uint64_t>& pages, std::span<const std::string_view> names,
                 const ImageSet& images) {
  for (const auto name : names)
    if (const auto symbol = images.find_symbol(name))
      add(pages, symbol->address, symbol->size);
}

} // namespace

PageRuns mpi_root_pages(const ImageSet& images) {
  std::vector<std::uint64_t> pages;
  add_symbols(pages, common_roots, images);
  for (const auto* mpi : known_mpis()) {
    add_symbols(pages, mpi->facts().symbols.roots, images);
    for (const auto& image : images.images())
      for (const auto& word : mpi->root_words(image))
        add(pages, word.address, word.size);
  }
  return runs_of(std::move(pages));
}

} // namespace mqbridge
