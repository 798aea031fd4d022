#pragma once

#include "rsp/client.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// A whole file of the target's file system, read-only (vFile:setfs, open with flags 0, pread...,
/// close), at most `limit` bytes. Errors: vfile.unsupported, vfile.open (with the remote errno's
/// name), vfile.too_large.
Result<std::string> read_file(Client& client, std::string_view path, std::size_t limit);

} // namespace mqbridge::rsp
