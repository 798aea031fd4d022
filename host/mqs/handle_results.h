#pragma once

#include "host/mqs/ask_handles.h"
#include "host/mqs/batch_reader.h"
#include "host/mqs/handle_wire.h"
#include "host/mqs/interpret_handles.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge {

/// Builds ProcessHandles from a worker's batches, checking every item.
class HandleReader final : public BatchReader {
public:
  HandleReader(const HandleRequest& request, HandleResult& result, MessageLog& log);

  /// Handles that were asked for and not answered become refusals; kinds whose list has not come to
  /// its end become incomplete.
  void finish(const std::optional<Error>& failure, TruncatedBy truncated_by,
              bool dll_failed) override;

private:
  bool accept_item(wire::Item kind, wire::Decoder& item) override;
  std::uint64_t found() const override { return answers_; }

  bool numbers(wire::Decoder& item);
  bool attribute(wire::Decoder& item);
  bool communicator(wire::Decoder& item);
  bool request(wire::Decoder& item);
  bool errhandler(wire::Decoder& item);
  bool status(wire::Decoder& item);
  bool refused(wire::Decoder& item);
  bool list_end(wire::Decoder& item);

  bool asks_for_lists() const { return request_.question.handles.empty(); }
  int pointer_size() const { return request_.space.platform.pointer_size; }
  /// Whether an answer about this handle is due. `handle`: as in C; nullptr: for a refusal.
  bool is_due(HandleKind kind, const std::uint64_t* handle) const;
  /// Takes an answer, and forgets the lists that came before it.
  template <class Handle>
  bool keep(std::vector<Handle>& into, Handle handle);

  const HandleRequest& request_;
  ProcessHandles& handles_;
  SitePool sites_;
  /// The lists and attributes of the handle that comes next.
  HandleLists lists_;
  std::vector<HandleAttribute> attributes_;
  std::uint64_t numbers_ = 0; ///< elements of all lists
  std::uint64_t owners_ = 0;  ///< communicators that nobody asked for: CommFields::is_owner
  std::uint64_t answers_ = 0; ///< answers to the question so far, refusals among them
  std::vector<HandleKind> ended_;
};

} // namespace mqbridge
