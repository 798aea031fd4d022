// Targets files. What is understood is written as it was read; what is not has its line and column.

#include "host/job/targets_file.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  using test::require;
  const std::filesystem::path path("/nowhere/ranks.txt");
  const auto targets = parse_targets({reinterpret_cast<const char*>(data), size}, path);
  if (!targets) {
    const auto& error = targets.error();
    require(!error.code.empty() && !error.hint.empty());
    require(error.message.starts_with(path.string()) && error.message.size() < 20'000);
    return 0;
  }
  require(!targets->empty());
  const auto text = targets_text(*targets);
  require(text.has_value());
  const auto again = parse_targets(*text, path);
  require(again.has_value() && again->size() == targets->size());
  require(*targets_text(*again) == *text);
  return 0;
}
