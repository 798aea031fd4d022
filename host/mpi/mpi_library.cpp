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

/// A text in the target; empty if it cannot be read. An error means that the way to the memory is
/// lost.
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

/// The place of one of the MPI's symbols; nullopt: the MPI is not loaded.
std::optional<ResolvedSymbol> find_mpi(const ImageSet& images, const MpiSupport& mpi) {
  for (const auto name : mpi.facts().symbols.of_each_process)
    if (auto symbol = images.find_symbol(name))
      return symbol;
  return std::nullopt;
}

/// The image with PMPI_Init, for an MPI that nothing else is known of.
const Image* other_with_mpi(const ImageSet& images, const Image* recorder) {
  for (const auto& image : images.images())
    if (&image != recorder && image.file && image.file->find_symbol("PMPI_Init") != nullptr)
      return &image;
  return nullptr;
}

const MpiSupport& recorder_support() {
  const auto mpis = known_mpis();
  return **std::ranges::find_if(mpis, [](const auto* mpi) { return mpi->facts().is_recorder; });
}

/// Whether this process uses the recorder.
enum class Recorder : std::uint8_t {
  none, ///< there is none, or LD_PRELOAD has brought it where it has nothing to do
  idle, ///< it may be used later
  used, ///< it has been used, or nothing tells whether
};

Result<Recorder> look_at_recorder(const AddressSpace& space, const Image* recorder, bool has_mpi) {
  if (recorder == nullptr)
    return Recorder::none;
  auto state = recorder_support().read_state(space);
  if (!state)
    return forward(std::move(state));
  if (*state != MpiState::not_initialized)
    return Recorder::used;
  const bool is_part_of_program = recorder == space.images.images().data();
  return has_mpi || is_part_of_program ? Recorder::idle : Recorder::none;
}

void read_release(MpiLibrary& mpi, const MpiSupport& support) {
  if (mpi.image == nullptr || !mpi.image->file)
    return;
  if (auto release = support.read_release(*mpi.image->file)) {
    mpi.name = std::move(release->name);
    mpi.version = std::move(release->version);
  }
}

/// An error means that the way to the memory is lost.
Result<void> name_mpi(MpiLibrary& mpi, const MpiSupport& support, const AddressSpace& space) {
  mpi.provider = support.facts().provider;
  mpi.name = support.facts().name;
  const auto symbol = space.images.find_symbol(support.facts().symbols.version);
  if (!symbol) {
    read_release(mpi, support);
    return {};
  }
  auto version = text_at(space.memory, *symbol, max_version);
  if (!version)
    return forward(std::move(version));
  if (is_version(*version))
    mpi.version = std::move(*version);
  return {};
}

/// Names an MPI that is not known by its symbols: the recorder has asked it for its name.
Result<void> name_recorded(MpiLibrary& mpi, bool has_mpi, const AddressSpace& space) {
  if (!has_mpi)
    return name_mpi(mpi, recorder_support(), space);
  auto text = recorder_support().read_mpi_name(space);
  if (!text)
    return forward(std::move(text));
  if (!text->empty())
    mpi.name = std::move(*text);
  return {};
}

Result<void> read_dll_name(MpiLibrary& mpi, const ResolvedSymbol& symbol,
                           const AddressSpace& space) {
  auto name = text_at(space.memory, symbol, max_dll_name);
  if (!name)
    return forward(std::move(name));
  mpi.dll_name = std::move(*name);
  mpi.dll_name_ends = mpi.dll_name.size() < room_of(symbol, max_dll_name);
  return {};
}

} // namespace

const MpiSupport& support_of_mpi(const MpiLibrary& mpi) {
  return support_of(mpi.recorded.empty() ? mpi.provider : mpi.recorded);
}

const MpiSupport* loaded_mpi(const ImageSet& images) {
  for (const auto* mpi : known_mpis())
    if (!mpi->facts().is_recorder && find_mpi(images, *mpi))
      return mpi;
  return nullptr;
}

Result<std::optional<MpiLibrary>> identify_mpi(const AddressSpace& space) {
  const auto& images = space.images;
  const auto* const known = loaded_mpi(images);
  const auto root = find_mpi(images, recorder_support());
  const Image* const recorder = root ? root->image : nullptr;
  const Image* const other = other_with_mpi(images, recorder);
  const bool has_mpi = known != nullptr || (recorder != nullptr && other != nullptr);
  const auto recording = look_at_recorder(space, recorder, has_mpi);
  if (!recording)
    return Failure(recording.error());
  auto dll_name = images.find_symbol("MPIR_dll_name");
  if (dll_name && *recording == Recorder::none && dll_name->image == recorder)
    dll_name.reset();
  if (known == nullptr && *recording == Recorder::none && !dll_name)
    return std::optional<MpiLibrary>();
  MpiLibrary mpi;
  mpi.name = "MPI";
  mpi.image = known != nullptr      ? find_mpi(images, *known)->image
              : has_mpi             ? other
              : recorder != nullptr ? recorder
                                    : dll_name->image;
  auto named = known != nullptr               ? name_mpi(mpi, *known, space)
               : *recording != Recorder::none ? name_recorded(mpi, has_mpi, space)
                                              : Result<void>();
  if (!named)
    return forward(std::move(named));
  if (*recording == Recorder::used || (*recording == Recorder::idle && known == nullptr)) {
    mpi.recorded = has_mpi ? mpi.provider : "";
    mpi.provider = recorder_support().facts().provider;
  }
  if (dll_name)
    if (auto done = read_dll_name(mpi, *dll_name, space); !done)
      return forward(std::move(done));
  return std::optional(std::move(mpi));
}

} // namespace mqbridge
