#include "host/stacks/frame_names.h"

#include "host/disk/work_budget.h"

namespace mqbridge {
namespace {

constexpr std::size_t most_bytes = std::size_t{32} << 20;

std::size_t size_of(const FrameNames::Place& place, const FrameNames::Calls& calls) {
  std::size_t bytes = sizeof place + place.first.size();
  for (const auto& call : calls)
    bytes += size_of(call);
  return bytes;
}

std::size_t size_of(const std::optional<std::string>& text) {
  return text ? text->size() : 0;
}

} // namespace

std::size_t size_of(const NamedCall& call) {
  return sizeof call + size_of(call.function) + size_of(call.file);
}

std::optional<FrameNames::Calls> FrameNames::find(const Place& place) const {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(place);
  return found != known_.end() ? std::optional(found->second) : std::nullopt;
}

void FrameNames::add(const Place& place, const Calls& calls) {
  const std::scoped_lock lock(mutex_);
  const auto bytes = size_of(place, calls);
  if (bytes_ + bytes <= most_bytes && known_.try_emplace(place, calls).second)
    bytes_ += bytes;
}

Result<std::unique_lock<std::timed_mutex>> FrameNames::lock_reading() {
  return lock_in_time(reading_);
}

} // namespace mqbridge
