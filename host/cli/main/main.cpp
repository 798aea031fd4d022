#include "build_info.h"
#include "host/cli/run.h"

#include <span>

int main(int argc, char** argv) {
  const std::span<const char* const> all(argv, static_cast<std::size_t>(argc));
  return mqbridge::run(all.empty() ? all : all.subspan(1), MQBRIDGE_VERSION, MQBRIDGE_BUILD);
}
