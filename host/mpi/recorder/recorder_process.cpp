#include "host/mpi/recorder/recorder_process.h"

#include "dll/recorder/layout.h"
#include "host/codes.h"
#include "host/memory/reader.h"

#include <array>

namespace mqbridge::recorder {

Result<MpiState> read_state(const AddressSpace& space) {
  const auto symbol = space.images.find_symbol(MQR_ROOT_SYMBOL);
  if (!symbol)
    return MpiState::unknown;
  std::array<std::byte, sizeof(mqr_root)> root{};
  const auto read = read_exact(space.memory, symbol->address, root);
  if (!read && read.error().code == codes::memory_unreadable)
    return MpiState::unknown;
  if (!read)
    return Failure(read.error());
  const auto field = [&](std::size_t offset) {
    return decode_unsigned(std::span(root).subspan(offset, 4), space.platform.byte_order);
  };
  if (field(offsetof(mqr_root, magic)) != MQR_MAGIC_ROOT)
    return MpiState::unknown;
  switch (field(offsetof(mqr_root, state))) {
  case MQR_NOT_INITIALIZED:
    return MpiState::not_initialized;
  case MQR_INITIALIZED:
    return MpiState::initialized;
  case MQR_FINALIZED:
    return MpiState::finalized;
  default:
    return MpiState::unknown;
  }
}

} // namespace mqbridge::recorder
