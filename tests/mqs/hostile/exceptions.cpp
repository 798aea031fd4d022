// A DLL in C++ whose exceptions nobody catches.

extern "C" {
#include "tests/mqs/hostile/hostile.h"

extern const struct evil exceptions[];
}

#include <stdexcept>

namespace {

void throw_something() {
  throw std::runtime_error("thrown by the hostile DLL");
}

} // namespace

const struct evil exceptions[] = {
    {"throw_something", throw_something},
    {nullptr, nullptr},
};
