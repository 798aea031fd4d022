#pragma once

#include "rsp/result.h"

#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// What a burst asks, and where its replies go: the requests are made as the window opens, the
/// replies taken as they come, and no more of either is kept than is on its way
/// (Connection::stream). Called on the thread of the exchange, and may not begin another one.
class Burst {
public:
  Burst() = default;
  virtual ~Burst() = default;
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  /// Writes the next request into `payload`, which is empty. False: there is none for now; it is
  /// asked again after the next reply, and the burst ends when nothing is on its way.
  virtual bool next(std::string& payload) = 0;

  /// The reply to the oldest request that has none; its bytes are gone after the call. An Error
  /// ends the burst: what is still owed is skipped by the next exchange.
  virtual Result<void> take(std::string_view reply) = 0;
};

} // namespace mqbridge::rsp
