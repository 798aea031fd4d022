// Runs a fuzz target, of which this program has all, over a corpus without libFuzzer: every file,
// and of each some prefixes and some copies with a bit changed, spread evenly. Ends with 1 if the
// corpus is empty, for then nothing was tried.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

// A line for each target, by CMakeLists.txt.
#define FUZZ_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "replayed_targets.h"
#undef FUZZ_TARGET

namespace {

using FuzzTarget = int (*)(const std::uint8_t* data, std::size_t size);

FuzzTarget target_named(std::string_view name) {
#define FUZZ_TARGET(target)                                                                        \
  if (name == #target)                                                                             \
    return fuzz_##target;
#include "replayed_targets.h"
#undef FUZZ_TARGET
  return nullptr;
}

/// Of each kind, for one file.
constexpr std::size_t most_variants = 8;

/// How many inputs were tried.
std::size_t replay(FuzzTarget target, std::vector<std::uint8_t> bytes) {
  const auto try_input = [target](const std::vector<std::uint8_t>& input) {
    target(input.data(), input.size());
  };
  try_input(bytes);
  const std::size_t step = bytes.size() / most_variants + 1;
  std::size_t runs = 1;
  for (std::size_t at = 0; at < bytes.size(); at += step, runs += 2) {
    try_input({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)});
    const auto before = bytes[at];
    bytes[at] = static_cast<std::uint8_t>(before ^ (1U << (at % 8)));
    try_input(bytes);
    bytes[at] = before;
  }
  return runs;
}

} // namespace

int main(int argc, char** argv) {
  const FuzzTarget target = argc == 3 ? target_named(argv[1]) : nullptr;
  if (target == nullptr) {
    std::fprintf(stderr, "usage: %s TARGET CORPUS_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::size_t files = 0;
  std::size_t runs = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2], error)) {
    std::ifstream in(entry.path(), std::ios::binary);
    runs += replay(target, {std::istreambuf_iterator<char>(in), {}});
    ++files;
  }
  std::printf("%zu files\nfaults tried: %zu\n", files, runs);
  return files == 0 ? 1 : 0;
}
