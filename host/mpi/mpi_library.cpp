#include "host/mpi/mpi_library.h"

#include "host/codes.h"
#include "host/memory/reader.h"
#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t max_dll_name = 4096;
constexpr std::size_t max_version = 256;

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
std::pair<std::optional<MpiIdentity>, const Image*> recognise(const ImageSet& images) {
  for (const auto* mpi : known_mpis())
    for (const auto name : mpi->identity().symbols)
      if (const auto symbol = images.find_symbol(name))
        return {mpi->identity(), symbol->image};
  return {};
}

} // namespace

Result<std::optional<MpiLibrary>> identify_mpi(const AddressSpace& space) {
  const auto [known, image] = recognise(space.images);
  const auto dll_name = space.images.find_symbol("MPIR_dll_name");
  if (!known && !dll_name)
    return std::optional<MpiLibrary>();
  MpiLibrary mpi;
  mpi.name = known ? known->name : "MPI";
  mpi.image = known ? image : dll_name->image;
  if (known) {
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
