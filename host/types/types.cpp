#include "host/types/types.h"

#include <algorithm>

namespace mqbridge {

const TypeField* TypeLayout::find_field(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const TypeField& known) { return known.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

} // namespace mqbridge
