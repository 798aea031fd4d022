#pragma once

#include "rsp/exchange/connection.h"

#include <map>
#include <string>
#include <string_view>

namespace mqbridge {

/// What qXfer:OBJECT:read gives, read whole at once, and kept while the process is stopped. One
/// thread.
class KeptObjects {
public:
  explicit KeptObjects(rsp::Connection& stub) : stub_(stub) {}

  /// Bytes that one packet of the stub carries.
  void set_packet_size(std::size_t bytes) { packet_size_ = bytes; }
  /// The reply to such a request. Errors: those of Connection.
  Result<std::string> answer(const std::string& request);
  /// The libraries' list, if it was read; empty: it was not.
  std::string_view libraries() const;
  /// The process has run, or is another one.
  void forget() { objects_.clear(); }

private:
  Result<std::string> read(const std::string& object);

  rsp::Connection& stub_;
  std::size_t packet_size_ = 400;
  std::map<std::string, std::string> objects_; ///< by the request up to the offset
};

} // namespace mqbridge
