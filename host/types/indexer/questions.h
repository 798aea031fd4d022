#pragma once

#include "host/types/indexer/dwarf_file.h"
#include "host/types/type_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// What a reader of types asks whoever wants to know about types: it opens no file itself, and
/// keeps no index.
class Questions {
public:
  virtual ~Questions() = default;

  /// The package of all split DWARF of the main file (.dwp). nullopt: there is none.
  virtual std::optional<SuppliedFile> package() = 0;
  /// The split file of that name of a unit that was compiled in `directory`: the `index`th best
  /// place where it is. nullopt: there are no more.
  virtual std::optional<SuppliedFile> split(std::string_view directory, std::string_view name,
                                            std::uint32_t index) = 0;
  /// Where types of that name may be defined, best first.
  virtual std::vector<TypePlace> candidates(NameKind kind, std::string_view name) = 0;
};

} // namespace mqbridge
