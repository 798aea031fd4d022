#pragma once

#include "host/bridge/foreseen.h"
#include "rsp/client/features.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace mqbridge {

/// What qXfer:OBJECT:read gives, read whole at once, and kept while the process is stopped. One
/// thread.
class KeptObjects {
public:
  explicit KeptObjects(Foreseen& foreseen) : foreseen_(foreseen) {}

  void set_features(const rsp::Features& features) { features_ = features; }
  /// The packet that asks for the first piece of "qXfer:auxv:read::".
  std::string first_packet(const std::string& object) const;
  /// The reply to such a request. Errors: those of Connection.
  Result<std::string> answer(const std::string& request);
  /// The libraries' list, if it was read; empty: it was not.
  std::string_view libraries() const { return kept("qXfer:libraries-svr4:read:"); }
  /// So the list of threads.
  std::string_view threads() const { return kept("qXfer:threads:read:"); }
  /// The process has run, or is another one.
  void forget() { objects_.clear(); }

private:
  Result<std::string> read(const std::string& object);
  std::string_view kept(std::string_view name) const;

  std::string packet(const std::string& object, std::size_t from) const;

  Foreseen& foreseen_;
  rsp::Features features_;
  std::map<std::string, std::string> objects_; ///< by the request up to the offset
};

} // namespace mqbridge
