// Runs a fuzz target over a corpus without libFuzzer: every file, and of each some prefixes and
// some copies with a bit changed, spread evenly. Ends with 1 if the corpus is empty, for then
// nothing was tried.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// Of each kind, for one file.
constexpr std::size_t most_variants = 8;

void try_input(const std::vector<std::uint8_t>& bytes) {
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

/// How many inputs were tried.
std::size_t replay(std::vector<std::uint8_t> bytes) {
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
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::size_t files = 0;
  std::size_t runs = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error)) {
    std::ifstream in(entry.path(), std::ios::binary);
    runs += replay({std::istreambuf_iterator<char>(in), {}});
    ++files;
  }
  std::printf("%zu files\nfaults tried: %zu\n", files, runs);
  return files == 0 ? 1 : 0;
}
