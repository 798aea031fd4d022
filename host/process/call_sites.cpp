#include "host/process/call_sites.h"

namespace mqbridge {
namespace {

std::size_t length_of(const std::optional<std::string>& text) {
  return text ? text->size() : 0;
}

} // namespace

SharedSite SitePool::share(const CallSite& site) {
  for (auto [same, last] = sites_.equal_range(site.address); same != last; ++same)
    if (*same->second == site)
      return same->second;
  constexpr std::size_t body = 96; // the site's counters, and the overhead of two allocations
  auto made = std::make_shared<CallSite>(site);
  bytes_ += sizeof(CallSite) + body + length_of(site.function) + length_of(site.file);
  if (sites_.size() < most)
    sites_.emplace(site.address, made);
  return made;
}

} // namespace mqbridge
