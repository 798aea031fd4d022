#pragma once

#include "host/types/indexer/dwarf_file.h"
#include "host/types/type_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The questions of a reader of types to its owner: the reader opens no file itself, and keeps no
/// index.
class Questions {
public:
  virtual ~Questions() = default;

  /// The package of all split DWARF of the main file (.dwp). nullopt: there is none.
  virtual std::optional<SuppliedFile> package() = 0;
  /// The split file `name` of a unit that was compiled in `directory`, at the `index`th best place.
  /// nullopt: there are no more places.
  virtual std::optional<SuppliedFile> split(std::string_view directory, std::string_view name,
                                            std::uint32_t index) = 0;
  /// The places where types of that name may be defined, best first.
  virtual std::vector<TypePlace> candidates(NameKind kind, std::string_view name) = 0;
};

} // namespace mqbridge
