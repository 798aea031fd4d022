#pragma once

#include "rsp/client/asked_ahead.h"
#include "rsp/exchange/connection.h"

#include <string>
#include <vector>

namespace mqbridge {

/// What a debugger is going to ask, one thing after the other, is asked at once: packets that only
/// read. One thread.
class Foreseen {
public:
  explicit Foreseen(rsp::Connection& stub) : stub_(stub) {}

  /// Their replies, which answer() will give, too. Errors: those of Connection; so below.
  Result<std::vector<std::string>> ask(const std::vector<std::string>& packets);
  /// The reply, as it was foreseen or as the stub gives it. What was foreseen is said once: there
  /// are questions to which the stub has another answer each time.
  Result<std::string> answer(const std::string& packet);
  /// Something has changed.
  void forget() { replies_.forget(); }

private:
  rsp::Connection& stub_;
  rsp::AskedAhead replies_;
};

} // namespace mqbridge
