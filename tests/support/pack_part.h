#pragma once

#include "host/types/type_pack.h"

#include <algorithm>
#include <string>
#include <vector>

namespace mqbridge::test {

/// What a pack that was made with Open MPI's own source has in common with `plain`, which was made
/// from the installed headers alone.
struct PackPart {
  PackPart(TypePack with_source, const TypePack& plain) : pack(std::move(with_source)) {
    std::erase_if(pack.types, [&](const TypeLayout& type) {
      if (std::ranges::find(plain.types, type.name, &TypeLayout::name) != plain.types.end())
        return false;
      if (!type.fields.empty())
        more.push_back(type.name);
      return true;
    });
  }

  TypePack pack;
  std::vector<std::string> more; ///< types with fields that only the source gives
};

} // namespace mqbridge::test
