#pragma once

#include "host/types/indexer/questions.h"
#include "host/types/indexer/type_reader.h"
#include "host/types/indexer_wire.h"

#include <array>
#include <span>

namespace mqbridge::indexer {

/// This process's end of the socket to its parent. Without a parent, or with one that says what
/// makes no sense, there is nothing left to do: every call ends the process then.
class Channel {
public:
  explicit Channel(int socket) : socket_(socket) {}

  void send(const wire::Encoder& message);
  /// Its kind was taken; valid until the next call. With the descriptor that came along, if one
  /// did.
  wire::Decoder receive(wire::IndexerKind& kind, FileDescriptor& descriptor);

private:
  int socket_;
  std::array<std::byte, wire::max_message> buffer_;
};

/// What the parent wants to be told about, from its first message.
struct Start {
  bool sandboxed = true;
  unsigned pointer_size = 0;
  GivenFiles files;

  static Start receive(Channel& channel);
};

/// Answers the parent's questions about one file's types, until it goes.
class Session : private Questions {
public:
  Session(Channel& channel, Start start)
      : channel_(channel), reader_(std::move(start.files), start.pointer_size, *this) {}

  [[noreturn]] void serve();

private:
  void answer_names();
  void answer_layout(wire::Decoder& question);
  void send_fault(const DwarfFault& fault);
  std::optional<SuppliedFile> ask_for_file(const wire::Encoder& question);

  std::optional<SuppliedFile> package() override;
  std::optional<SuppliedFile> split(std::string_view directory, std::string_view name,
                                    std::uint32_t index) override;
  std::vector<TypePlace> candidates(NameKind kind, std::string_view name) override;

  Channel& channel_;
  TypeReader reader_;
};

} // namespace mqbridge::indexer
