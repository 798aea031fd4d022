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
  /// `dll`: for messages. `store`: the pages that the worker sees without asking, filled by
  /// `space.memory`; may be null.
  Lookups(const std::filesystem::path& dll, const AddressSpace& space, PageStore* store,
          MessageLog& log)
      : dll_(dll), space_(space), store_(store), log_(log) {}

  /// The reply to one request of the worker. Errors: dll.protocol (not a proper request), dll.limit
  /// (the worker asks without end: its clock stands still while it is answered, so that its time
  /// limit does not help), and those of Memory: the way to the target is lost.
  Result<wire::Encoder> answer(std::span<const std::byte> request);

  /// The same without reading memory: nullopt if a fetch wants bytes that are not in the store
  /// (yet).
  std::optional<Result<wire::Encoder>> answer_at_once(std::span<const std::byte> request);

  /// core.left_out or walk.unreadable, once a fetch met memory that the process has and
  /// `space.memory` lacks: the DLL may have taken the failure for the end of a list.
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
  std::vector<std::byte> fetched_;       ///< a member to keep its capacity
  std::uint32_t questions_ = 0;          ///< for symbols, types and fields
  std::uint32_t unreadable_ = 0;         ///< fetches of memory that cannot be read
  const Lack* lack_ = nullptr; ///< for the last fetch of memory that the process may have had
  std::uint32_t left_out_ = 0; ///< fetches of such memory
  std::optional<TargetAddress> first_left_out_;
};

} // namespace mqbridge
