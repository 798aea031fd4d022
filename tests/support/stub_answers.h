#pragma once

#include "tests/support/scripted_stub.h"

#include <map>
#include <string>
#include <string_view>

namespace mqbridge::test {

/// What a stub that has these objects ("OBJECT:ANNEX") answers to a qXfer read.
Answer object_piece(const std::map<std::string, std::string>& objects, std::string_view payload);

} // namespace mqbridge::test
