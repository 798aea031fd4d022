#include "host/document/raw_values.h"

#include <optional>

namespace mqbridge {
namespace {

class Collector {
public:
  /// At the ABI -1 stands for unknown (nullopt).
  void compare(std::string_view field, std::int64_t raw, std::optional<std::int64_t> reported) {
    if (raw != reported.value_or(-1))
      found_.push_back({field, raw});
  }
  void compare_address(std::string_view field, std::uint64_t raw,
                       std::optional<TargetAddress> reported) {
    if (raw != (reported ? reported->value : 0))
      found_.push_back({field, static_cast<std::int64_t>(raw), true});
  }
  std::vector<RawDifference> take() && { return std::move(found_); }

private:
  std::vector<RawDifference> found_;
};

} // namespace

std::vector<RawDifference> raw_differences(const Operation& operation) {
  if (operation.source != OpSource::dll)
    return {};
  const RawOperation& raw = operation.raw;
  Collector found;
  found.compare("status", raw.status, static_cast<std::int64_t>(operation.status));
  found.compare("desired_local_rank", raw.desired_local_rank, operation.peer.local_rank);
  found.compare("desired_global_rank", raw.desired_global_rank, operation.peer.global_rank);
  const bool raw_wild = raw.tag_wild != 0;
  if (raw_wild != operation.tag.any)
    found.compare("tag_wild", raw.tag_wild, operation.tag.any ? 1 : 0);
  if (!(raw_wild && operation.tag.any))
    found.compare("desired_tag", raw.desired_tag, operation.tag.value);
  found.compare("desired_length", raw.desired_length, operation.length.value);
  if ((raw.system_buffer != 0) != operation.system_buffer)
    found.compare("system_buffer", raw.system_buffer, operation.system_buffer ? 1 : 0);
  found.compare_address("buffer", raw.buffer, operation.buffer);
  if (const auto& actual = operation.actual) {
    found.compare("actual_local_rank", raw.actual_local_rank, actual->local_rank);
    found.compare("actual_global_rank", raw.actual_global_rank, actual->global_rank);
    found.compare("actual_tag", raw.actual_tag, actual->tag);
    found.compare("actual_length", raw.actual_length, actual->length);
  }
  return std::move(found).take();
}

} // namespace mqbridge
