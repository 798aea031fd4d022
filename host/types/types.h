#pragma once

#include "rsp/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

struct TypeField {
  std::string name;
  std::uint64_t offset = 0; ///< bytes from the start of the outer type
  std::uint64_t size = 0;   ///< bytes; 0 if not known
};

/// Size and fields of one C type as the target's compiler laid it out. Members of anonymous structs
/// and unions are listed flat, with offsets from the outer type.
struct TypeLayout {
  std::string name; ///< as asked for
  std::uint64_t size = 0;
  std::vector<TypeField> fields;

  const TypeField* find_field(std::string_view field) const;
};

/// Looks one type up, like TypeSource::find and ImageSet::find_type.
using TypeFinder = std::function<Result<const TypeLayout*>(std::string_view name)>;

/// Somewhere that knows types: DWARF of an image, a type carrier, a pack. One thread at a time.
class TypeSource {
public:
  virtual ~TypeSource() = default;

  /// `name` is a typedef, a tag, or "struct X" / "union X" / "enum X". A complete definition is
  /// preferred over a declaration. nullptr: not known here. Valid as long as the source. Errors:
  /// those of DwarfSources::open.
  virtual Result<const TypeLayout*> find(std::string_view name) = 0;

  /// The build-id of the library for which they were made; empty: for no build in particular.
  virtual std::string_view build_id() const { return {}; }

  /// Faults of the source that find() met; each is reported once.
  virtual std::vector<Error> take_warnings() { return {}; }
};

} // namespace mqbridge
