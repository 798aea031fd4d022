#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mqbridge::rsp {

/// `F RESULT[,ERRNO[,C]][;ATTACHMENT]`: a reply to any vFile request.
struct FileReply {
  std::int64_t result = 0;
  std::uint64_t error = 0;
  std::string_view attachment; ///< into the reply
};

/// nullopt: no such reply.
std::optional<FileReply> parse_file_reply(std::string_view reply);

} // namespace mqbridge::rsp
