#pragma once

#include "rsp/client/client.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// A whole file of the target's file system, read-only (vFile:setfs, open with flags 0, pread...,
/// close), at most `limit` bytes. Errors: vfile.unsupported, vfile.open (with the remote errno's
/// name), vfile.too_large.
Result<std::string> read_file(Client& client, std::string_view path, std::size_t limit);

/// At most the first `count` bytes of such a file, in two round trips. Errors: vfile.unsupported,
/// vfile.open, vfile.read, stub.garbage.
Result<std::string> read_file_start(Client& client, std::string_view path, std::size_t count);

} // namespace mqbridge::rsp
