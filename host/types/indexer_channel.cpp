#include "host/types/indexer_channel.h"

namespace mqbridge {

Result<wire::Decoder> IndexerChannel::receive(wire::IndexerKind& kind) {
  const auto bytes = next_message();
  if (!bytes)
    return Failure(bytes.error());
  wire::Decoder message(*bytes);
  kind = message.get<wire::IndexerKind>();
  if (!message.ok())
    return protocol_violation();
  return message;
}

} // namespace mqbridge
