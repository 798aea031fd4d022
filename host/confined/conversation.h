#pragma once

#include "host/confined/messages.h"
#include "host/disk/file_descriptor.h"
#include "rsp/result.h"

#include <cstddef>
#include <span>

namespace mqbridge::sandbox {

/// The owner's side of a confined process that asks and answers, wherever that process is
/// (child_conversation.h has the real ones). Each side asks and waits for the answer. After an
/// error of any call the conversation is over. Any thread, one at a time.
class Conversation {
public:
  virtual ~Conversation() = default;

  virtual Result<void> send(const wire::Encoder& message) = 0;
  virtual Result<void> send(const wire::Encoder& message, const FileDescriptor& descriptor) = 0;

  /// A question is about to be asked: the time for its answer begins.
  virtual void begin_answer() = 0;

  /// The next message, without the kind at its beginning; valid until the next call. Errors: those
  /// of next_message() and protocol_violation().
  template <class Kind>
  Result<wire::Decoder> receive(Kind& kind) {
    const auto bytes = next_message();
    if (!bytes)
      return Failure(bytes.error());
    wire::Decoder message(*bytes);
    kind = message.get<Kind>();
    if (!message.ok())
      return protocol_violation();
    return message;
  }

  /// The failure for a message that makes no sense.
  virtual Failure protocol_violation() = 0;

private:
  /// Valid until the next call.
  virtual Result<std::span<const std::byte>> next_message() = 0;
};

} // namespace mqbridge::sandbox
