#pragma once

#include "rsp/client/client.h"
#include "rsp/packet/file_reply.h"
#include "rsp/result.h"

#include <cstddef>
#include <string_view>

namespace mqbridge::rsp {

/// Error stub.garbage: `reply` answers a request about `path`.
Failure garbled_file_reply(std::string_view path, std::string_view reply);

/// Error `code`: "cannot open PATH on the target: ENOENT".
Failure refused_file(std::string_view code, std::string_view what, std::string_view path,
                     const FileReply& reply);

/// Bytes that one vFile:pread may ask for.
std::size_t file_piece_size(const Client& client);

/// The bytes that answer one vFile:pread of `wanted` bytes; fewer at the end of the file. They are
/// part of `reply`. Errors: vfile.read, stub.garbage.
Result<std::string_view> parse_file_piece(std::string_view path, std::string_view reply,
                                          std::size_t wanted);

} // namespace mqbridge::rsp
