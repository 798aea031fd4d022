#pragma once

#include "host/disk/file_descriptor.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

struct HttpRequest {
  std::string method = {};
  std::string path = {};                           ///< decoded, as the client wrote it: "/v1/jobs"
  std::map<std::string, std::string> query = {};   ///< of a name that comes twice, the last one
  std::map<std::string, std::string> headers = {}; ///< names in lower case
  std::string body = {};
  bool is_of_unix_socket = false; ///< the client came by it, and is this user

  /// Empty: there is none.
  std::string_view header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
  std::string_view parameter(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? std::string_view() : std::string_view(found->second);
  }
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::optional<FileDescriptor> file = {}; ///< a regular file: in the place of `body`
  /// A stream: what this gives, and then all that is published, until the client leaves. Called
  /// once nothing that is published can be missed.
  std::function<std::string()> stream = {};
};

} // namespace mqbridge
