#pragma once

#include "host/disk/file_descriptor.h"
#include "host/types/indexer_wire.h"
#include "rsp/result.h"

#include <cstddef>
#include <span>

namespace mqbridge {

/// The messages to and from one mqbridge-indexer, wherever it is. An error of any call is the end
/// of it. Any thread, one at a time.
class IndexerChannel {
public:
  virtual ~IndexerChannel() = default;

  virtual Result<void> send(const wire::Encoder& message) = 0;
  virtual Result<void> send(const wire::Encoder& message, const FileDescriptor& descriptor) = 0;

  /// A question is about to be asked: the time for its answer begins.
  virtual void begin_answer() = 0;
  /// The next message, without its kind; valid until the next call. Errors: those of
  /// next_message(), and dwarf.protocol.
  Result<wire::Decoder> receive(wire::IndexerKind& kind);

  /// dwarf.protocol: what it sent makes no sense.
  virtual Failure protocol_violation() = 0;

private:
  /// Valid until the next call.
  virtual Result<std::span<const std::byte>> next_message() = 0;
};

} // namespace mqbridge
