#pragma once

#include "rsp/result.h"

#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// The requests of a burst, and the receiver of its replies. Requests are made as the window opens,
/// and replies are taken as they come: no more of either is kept than is on its way
/// (Connection::stream). Called on the thread of the exchange; may not begin another exchange.
class Burst {
public:
  Burst() = default;
  virtual ~Burst() = default;
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

  /// Writes the next request into `payload`, which is empty. False: there is none for now. It is
  /// called again after the next reply, and when the connection is woken; the burst ends when
  /// nothing is on its way.
  virtual bool next(std::string& payload) = 0;

  /// The reply to the oldest request that has none; its bytes are gone after the call. An Error
  /// ends the burst: the next exchange skips the replies that are still owed.
  virtual Result<void> take(std::string_view reply) = 0;
};

} // namespace mqbridge::rsp
