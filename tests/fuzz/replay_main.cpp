// Runs a fuzz target over a corpus without libFuzzer: every file, every prefix of it, and each byte
// of it changed once in turn. Ends with 1 if the corpus is empty, for then nothing was tried.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t replay(std::vector<std::uint8_t> bytes) {
  std::size_t runs = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size, ++runs) {
    const std::vector<std::uint8_t> prefix(bytes.begin(),
                                           bytes.begin() + static_cast<std::ptrdiff_t>(size));
    LLVMFuzzerTestOneInput(prefix.data(), prefix.size());
  }
  for (std::size_t i = 0; i < bytes.size(); ++i, ++runs) {
    const auto before = bytes[i];
    bytes[i] = static_cast<std::uint8_t>(before ^ (1U << (i % 8)));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    bytes[i] = before;
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
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream in(entry.path(), std::ios::binary);
    runs += replay({std::istreambuf_iterator<char>(in), {}});
    ++files;
  }
  std::printf("%zu files, %zu inputs\n", files, runs);
  return files == 0 ? 1 : 0;
}
