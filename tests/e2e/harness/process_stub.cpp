#include "tests/e2e/harness/process_stub.h"

#include "tests/support/process_table.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string>

namespace mqbridge::e2e {
namespace {

using test::Answer;

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "m ADDRESS,LENGTH" or "x ADDRESS,LENGTH", without the blank.
std::string read(pid_t process, std::string_view payload) {
  std::uint64_t address = 0;
  std::size_t length = 0;
  const char* end = payload.data() + payload.size();
  const auto comma = std::from_chars(payload.data() + 1, end, address, 16).ptr;
  std::from_chars(comma + 1, end, length, 16);
  return test::memory_of(process, address, length);
}

Answer answer_hex(pid_t process, std::string_view payload) {
  const std::string bytes = read(process, payload);
  return Answer::packet(bytes.empty() ? "E01" : test::to_hex(bytes));
}

} // namespace

void front_process(test::ScriptedStub& stub, pid_t process, pid_t shown) {
  const std::string proc = fmt::format("/proc/{}/", process);
  stub.serve_objects({{"auxv:", content(proc + "auxv")},
                      {fmt::format("exec-file:{:x}", shown),
                       std::filesystem::read_symlink(proc + "exe").string()}});
  stub.on("?", Answer::packet(fmt::format("T05thread:p{0:x}.{0:x};", shown)));
  stub.on("qC", Answer::packet(fmt::format("QCp{0:x}.{0:x}", shown)));
  stub.on("qAttached", Answer::packet("1"));
  stub.on("m", [process](std::string_view payload) { return answer_hex(process, payload); });
}

} // namespace mqbridge::e2e
