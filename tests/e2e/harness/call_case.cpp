#include "tests/e2e/harness/call_case.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>

namespace mqbridge::e2e {

bool CallCase::is_inside(int rank) const {
  return std::find(inside.begin(), inside.end(), rank) != inside.end();
}

std::string CallCase::argument() const {
  return fmt::format("{}:{}:{}:{}", call, comm, bytes, fmt::join(inside, ","));
}

void PrintTo(const CallCase& param, std::ostream* stream) {
  *stream << param.argument();
}

} // namespace mqbridge::e2e
