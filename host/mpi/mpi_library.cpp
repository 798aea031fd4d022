#include "host/mpi/mpi_library.h"

#include "host/codes.h"
#include "host/memory/reader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t max_dll_name = 4096;
constexpr std::size_t max_version = 256;

/// Symbols by which a known MPI is recognised, in its stripped builds, too.
struct KnownMpi {
  std::string_view provider;
  std::string_view name;
  std::string_view version_symbol;         ///< a char array; MPICH: version.c
  std::array<std::string_view, 3> symbols; ///< any of them; empty ones do not count
};

constexpr std::array known_mpis = {
    // First: who records the queues of another MPI wants to see what was recorded.
    KnownMpi{"recorder", "mqbridge recorder", "mqbridge_recorder_version", {"mqbridge_recorder"}},
    KnownMpi{"openmpi",
             "Open MPI",
             "ompi_version_string",
             {"ompi_mpi_communicators", "ompi_mpi_comm_world", "ompi_mpi_state"}},
    KnownMpi{"mpich",
             "MPICH",
             "MPII_Version_string",
             {"MPII_Version_string", "MPIR_Process", "MPIR_All_communicators"}},
};

std::size_t room_of(const ResolvedSymbol& symbol, std::size_t limit) {
  return symbol.size > 0 ? std::min<std::size_t>(symbol.size, limit) : limit;
}

/// A text in the target; empty where it cannot be read. Errors: the way to the memory is lost.
Result<std::string> text_at(Memory& memory, const ResolvedSymbol& symbol, std::size_t limit) {
  auto text = read_string(memory, symbol.address, room_of(symbol, limit));
  if (text)
    return std::move(*text);
  if (text.error().code != codes::memory_unreadable)
    return forward(std::move(text));
  return std::string();
}

/// A version is a word; anything else at that symbol is not shown as one.
bool is_version(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.-+_~") ==
                              std::string_view::npos;
}

/// The known MPI whose symbols are there, and the image that has them.
std::pair<const KnownMpi*, const Image*> recognise(const ImageSet& images) {
  for (const auto& known : known_mpis)
    for (const auto name : known.symbols)
      if (const auto symbol = name.empty() ? std::nullopt : images.find_symbol(name))
        return {&known, symbol->image};
  return {nullptr, nullptr};
}

} // namespace

Result<std::optional<MpiLibrary>> identify_mpi(const AddressSpace& space) {
  const auto [known, image] = recognise(space.images);
  const auto dll_name = space.images.find_symbol("MPIR_dll_name");
  if (known == nullptr && !dll_name)
    return std::optional<MpiLibrary>();
  MpiLibrary mpi;
  mpi.name = known != nullptr ? known->name : "MPI";
  mpi.image = known != nullptr ? image : dll_name->image;
  if (known != nullptr) {
    mpi.provider = known->provider;
    if (const auto symbol = space.images.find_symbol(known->version_symbol)) {
      auto version = text_at(space.memory, *symbol, max_version);
      if (!version)
        return forward(std::move(version));
      if (is_version(*version))
        mpi.version = std::move(*version);
    }
  }
  if (dll_name) {
    auto name = text_at(space.memory, *dll_name, max_dll_name);
    if (!name)
      return forward(std::move(name));
    mpi.dll_name = std::move(*name);
    mpi.dll_name_ends = mpi.dll_name.size() < room_of(*dll_name, max_dll_name);
  }
  return std::optional(std::move(mpi));
}

} // namespace mqbridge
