#include "host/mqs/mpi_library.h"

#include "host/memory/reader.h"
#include "rsp/printable.h"

#include <algorithm>
#include <array>

namespace mqbridge {
namespace {

constexpr std::size_t max_dll_name = 4096;
constexpr std::size_t max_version = 256;

/// Symbols by which a known MPI is recognised, in its stripped builds, too.
struct KnownMpi {
  std::string_view provider;
  std::string_view name;
  std::string_view version_symbol; ///< a char array; MPICH: version.c
  std::array<std::string_view, 3> symbols;
};

constexpr std::array known_mpis = {
    KnownMpi{"openmpi",
             "Open MPI",
             "ompi_version_string",
             {"ompi_mpi_communicators", "ompi_mpi_comm_world", "ompi_mpi_state"}},
    KnownMpi{"mpich",
             "MPICH",
             "MPII_Version_string",
             {"MPII_Version_string", "MPIR_Process", "MPIR_All_communicators"}},
};

/// A text in the target; empty where it cannot be read. Errors: the way to the memory is lost.
Result<std::string> text_at(Memory& memory, const ResolvedSymbol& symbol, std::size_t limit) {
  const std::size_t size = symbol.size > 0 ? std::min<std::size_t>(symbol.size, limit) : limit;
  auto text = read_string(memory, symbol.address, size);
  if (text)
    return std::move(*text);
  if (text.error().code != "memory.unreadable")
    return forward(std::move(text));
  return std::string();
}

/// A version is a word; anything else at that symbol is not shown as one.
bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.-+_~") ==
                              std::string_view::npos;
}

} // namespace

Result<std::optional<MpiLibrary>> identify_mpi(const ImageSet& images, Memory& memory,
                                               const Platform&) {
  MpiLibrary mpi;
  bool found = false;
  for (const auto& known : known_mpis) {
    for (auto name : known.symbols) {
      const auto symbol = images.find_symbol(name);
      if (!symbol || found)
        continue;
      found = true;
      mpi.provider = known.provider;
      mpi.name = known.name;
      mpi.image = symbol->image;
    }
    if (!found)
      continue;
    if (const auto symbol = images.find_symbol(known.version_symbol)) {
      auto version = text_at(memory, *symbol, max_version);
      if (!version)
        return forward(std::move(version));
      if (is_version(*version))
        mpi.version = std::move(*version);
    }
    break;
  }
  if (const auto symbol = images.find_symbol("MPIR_dll_name")) {
    if (!found)
      mpi.name = "MPI";
    if (!found)
      mpi.image = symbol->image;
    found = true;
    auto name = text_at(memory, *symbol, max_dll_name);
    if (!name)
      return forward(std::move(name));
    mpi.dll_name = std::move(*name);
  }
  if (!found)
    return std::optional<MpiLibrary>();
  return std::optional(std::move(mpi));
}

} // namespace mqbridge
