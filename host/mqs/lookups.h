#pragma once

#include "host/memory/page_store.h"
#include "host/mqs/message_log.h"
#include "host/mqs/wire.h"
#include "host/process/address_space.h"
#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Answers a worker's requests from the target's symbols, types and memory.
class Lookups {
public:
  /// `dll`: for words. `store`: what the worker sees without asking, filled by `space.memory`; may
  /// be null.
  Lookups(const std::filesystem::path& dll, const AddressSpace& space, PageStore* store,
          MessageLog& log)
      : dll_(dll), space_(space), store_(store), log_(log) {}

  /// The reply to one request of the worker. Errors: dll.protocol (not a proper request), dll.limit
  /// (asks without end: the time that goes by here is none of the worker's, whose clock stands),
  /// and those of Memory: the way to the target is lost.
  Result<wire::Encoder> answer(std::span<const std::byte> request);

  /// The same without reading memory: nullopt for a fetch of what is not in the store (yet).
  std::optional<Result<wire::Encoder>> answer_at_once(std::span<const std::byte> request);

  /// core.left_out or walk.unreadable, once a fetch met memory that the process has and
  /// `space.memory` lacks: the DLL may take the failure for the end of a list.
  std::optional<Error> left_out() const;

private:
  Result<wire::Encoder> symbol(wire::Kind kind, wire::Decoder& request);
  Result<wire::Encoder> type(wire::Decoder& request);
  Result<wire::Encoder> field(wire::Decoder& request);
  Result<wire::Encoder> fetch(wire::Decoder& request);
  void mark_touched(TargetAddress address, std::size_t size);
  Failure endless(std::string_view what, std::uint32_t times) const;

  const std::filesystem::path& dll_;
  AddressSpace space_;
  PageStore* store_;
  MessageLog& log_;
  std::vector<const TypeLayout*> types_; ///< by the handle that the worker has
  std::vector<std::byte> fetched_;       ///< kept for its room
  std::uint32_t questions_ = 0;          ///< for symbols, types and fields
  std::uint32_t unreadable_ = 0;         ///< fetches of what is not there
  const Lack* lack_ = nullptr;           ///< of the last one where it may have had memory
  std::uint32_t left_out_ = 0;           ///< of these, where the process may have had memory
  std::optional<TargetAddress> first_left_out_;
};

} // namespace mqbridge
