#pragma once

#include "host/dump/values/document.h"

namespace mqbridge::test {

/// Every field that the document has is known in it, and has a value that no other field has.
Dump rich_dump();

/// An analysis in which every member has a value of its own.
Analysis rich_analysis();

} // namespace mqbridge::test
