#pragma once

#include "host/confined/parent_channel.h"
#include "host/types/indexer/questions.h"
#include "host/types/indexer/type_reader.h"
#include "host/types/indexer_wire.h"

#include <span>

namespace mqbridge::indexer {

using sandbox::ParentChannel;

/// The parent's first message: what it wants to know about.
struct Start {
  bool sandboxed = true;
  unsigned pointer_size = 0;
  GivenFiles files;

  static Start receive(ParentChannel& channel);
};

/// Answers the parent's questions about one file's types, until it goes.
class Session : private Questions {
public:
  Session(ParentChannel& channel, Start start)
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

  ParentChannel& channel_;
  TypeReader reader_;
};

} // namespace mqbridge::indexer
