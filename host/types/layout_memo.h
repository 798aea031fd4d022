#pragma once

#include "host/types/types.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// Questions to one source of types, and the answers; nullopt: it does not know that type.
using LayoutMemo = std::map<std::string, std::optional<TypeLayout>, std::less<>>;

/// For a record (CacheRecords) of this host.
std::vector<std::byte> to_bytes(const LayoutMemo& memo);
/// nullopt: `bytes` are not from to_bytes().
std::optional<LayoutMemo> layout_memo(std::span<const std::byte> bytes);

} // namespace mqbridge
