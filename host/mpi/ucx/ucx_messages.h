#pragma once

#include "host/mpi/ucx/ucx_worker.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::ucx {

/// A message that came before its receive (ucp_recv_desc_t).
struct Message {
  std::uint64_t tag = 0;
  std::uint64_t length = 0; ///< bytes of the whole message, whether they have come or not
  bool rendezvous = false;  ///< its bytes are still with the sender
};

struct Messages {
  std::vector<Message> all;          ///< by arrival
  std::optional<std::string> damage; ///< why they are not all
};

/// Reads the worker's unexpected messages, `most` of them: with more, `damage` says so. Errors:
/// those of Memory.
Result<Messages> read_messages(const Worker& worker, std::uint64_t most, const AddressSpace& space);

} // namespace mqbridge::ucx
