// ssh [OPTION...] -- HOST COMMAND, for a benchmark: stands for ssh and for the `gdbserver --multi
// -` behind it. All nodes of the benchmark are this machine, and their ranks a few real processes,
// each of which stands for many. None of them is stopped: their stubs' answers come from /proc.
//
// MQBRIDGE_CROWD is a directory with what the benchmark says: `processes`, the numbers of the real
// ones; N.auxv, N.exe and N.libraries of each; `dead` and `silent`, the names of two nodes. Process
// P of a node is the real process P modulo their number.

#include "tests/support/stub_wire.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

using mqbridge::test::Arrival;
using mqbridge::test::frame;
using mqbridge::test::to_hex;

constexpr int ssh_failed = 255;
constexpr std::uint64_t packet_bytes = 0x47ff; // gdbserver 13's

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string crowd_file(const std::string& name) {
  const char* directory = std::getenv("MQBRIDGE_CROWD");
  return content(fmt::format("{}/{}", directory != nullptr ? directory : ".", name));
}

std::uint64_t hex_number(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return number;
}

/// The numbers behind the last colon, or all of `text`, between commas.
std::array<std::uint64_t, 3> numbers_of(std::string_view text) {
  text.remove_prefix(text.rfind(':') == std::string_view::npos ? 0 : text.rfind(':') + 1);
  std::array<std::uint64_t, 3> numbers{};
  for (auto& number : numbers) {
    const auto one = text.substr(0, text.find(','));
    number = hex_number(one);
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return numbers;
}

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(hex_number(digits.substr(i, 2)));
  return bytes;
}

class Stub {
public:
  Stub() {
    std::ifstream list(std::string(std::getenv("MQBRIDGE_CROWD")) + "/processes");
    for (std::uint64_t pid = 0; list >> pid;)
      real_.push_back(pid);
  }

  std::string answer(std::string_view payload);

private:
  std::string negotiate(std::string_view payload) const;
  std::string attach(std::uint64_t shown);
  std::string object(std::string_view payload) const;
  std::string file(std::string_view payload);
  std::string open_file(const std::string& path);
  std::string memory(std::string_view payload) const;
  std::string read_memory(std::uint64_t address, std::uint64_t length) const;
  std::uint64_t real(std::uint64_t shown) const { return real_[shown % real_.size()]; }

  std::vector<std::uint64_t> real_;
  std::optional<std::uint64_t> attached_;
  int memory_ = -1;
  /// The text of each; descriptors count from 3. nullopt: the memory of the attached process.
  std::vector<std::optional<std::string>> open_;
};

std::string Stub::attach(std::uint64_t shown) {
  attached_ = shown;
  close(memory_);
  memory_ = open(fmt::format("/proc/{}/mem", real(shown)).c_str(), O_RDONLY | O_CLOEXEC);
  return fmt::format("T00thread:p{0:x}.{0:x};", shown);
}

/// As many bytes as there are; fewer than one where there are none.
std::string Stub::read_memory(std::uint64_t address, std::uint64_t length) const {
  std::string bytes(length, '\0');
  const auto got = pread(memory_, bytes.data(), bytes.size(), static_cast<off_t>(address));
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

std::string Stub::memory(std::string_view payload) const {
  const auto [address, length, none] = numbers_of(payload);
  const auto bytes = read_memory(address, std::min(length, packet_bytes / 2));
  return bytes.size() == length ? to_hex(bytes) : "E01";
}

std::string Stub::object(std::string_view payload) const {
  const std::string_view name = payload.substr(0, payload.find(':'));
  const std::map<std::string_view, std::string> files = {
      {"auxv", "auxv"}, {"exec-file", "exe"}, {"libraries-svr4", "libraries"}};
  const auto found = files.find(name);
  if (!attached_ || found == files.end())
    return "E00";
  const std::string text = crowd_file(fmt::format("{}.{}", real(*attached_), found->second));
  const auto [offset, length, none] = numbers_of(payload);
  if (offset > text.size())
    return "E01";
  return (text.size() - offset <= length ? "l" : "m") + text.substr(offset, length);
}

/// /proc/SHOWN/NAME is the real process's, with its own number replaced.
std::string Stub::open_file(const std::string& path) {
  constexpr std::string_view proc = "/proc/";
  std::uint64_t shown = 0;
  const char* const begin = path.data() + std::min(proc.size(), path.size());
  const char* const name = std::from_chars(begin, path.data() + path.size(), shown).ptr;
  if (!path.starts_with(proc) || name == begin)
    return "F-1,2";
  if (std::string_view(name) == "/mem") {
    open_.emplace_back();
    return fmt::format("F{:x}", open_.size() + 2);
  }
  std::string text = content(fmt::format("/proc/{}{}", real(shown), name));
  const std::string number = std::to_string(real(shown));
  if (text.starts_with(number))
    text.replace(0, number.size(), std::to_string(shown));
  if (text.empty())
    return "F-1,2";
  open_.emplace_back(std::move(text));
  return fmt::format("F{:x}", open_.size() + 2);
}

std::string Stub::file(std::string_view payload) {
  if (payload.starts_with("open:"))
    return open_file(from_hex(payload.substr(5, payload.find(',') - 5)));
  if (!payload.starts_with("pread:"))
    return payload.starts_with("setfs:") || payload.starts_with("close:") ? "F0" : "";
  const auto [descriptor, count, offset] = numbers_of(payload);
  if (descriptor < 3 || descriptor - 3 >= open_.size())
    return "F-1,9";
  const auto most = std::min(count, packet_bytes - 32);
  const auto& text = open_[descriptor - 3];
  const auto piece = text ? text->substr(std::min<std::uint64_t>(offset, text->size()), most)
                          : read_memory(offset, most);
  if (!text && piece.empty())
    return "F-1,5";
  return fmt::format("F{:x};", piece.size()) + piece;
}

std::string Stub::negotiate(std::string_view payload) const {
  if (payload.starts_with("qSupported"))
    return fmt::format("PacketSize={:x};QStartNoAckMode+;multiprocess+;qXfer:auxv:read+;"
                       "qXfer:exec-file:read+;qXfer:libraries-svr4:read+",
                       packet_bytes);
  if (payload == "QStartNoAckMode" || payload == "!" || payload.starts_with("H"))
    return "OK";
  if (payload == "?")
    return attached_ ? fmt::format("T00thread:p{0:x}.{0:x};", *attached_) : "W00";
  if (payload == "qC" && attached_)
    return fmt::format("QCp{0:x}.{0:x}", *attached_);
  return payload.starts_with("qAttached") ? "1" : "";
}

std::string Stub::answer(std::string_view payload) {
  const auto behind = [&](std::string_view prefix) { return payload.substr(prefix.size()); };
  if (payload.starts_with("m") && attached_)
    return memory(behind("m"));
  if (payload.starts_with("vFile:"))
    return file(behind("vFile:"));
  if (payload.starts_with("qXfer:"))
    return object(behind("qXfer:"));
  if (payload.starts_with("vAttach;"))
    return attach(hex_number(behind("vAttach;")));
  if (payload.starts_with("D")) {
    attached_.reset();
    return "OK";
  }
  return negotiate(payload);
}

bool send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (sent <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void serve() {
  Stub stub;
  mqbridge::test::WireReader wire;
  bool acks = true;
  std::array<char, 65536> buffer;
  for (ssize_t got; (got = read(STDIN_FILENO, buffer.data(), buffer.size())) > 0;) {
    std::string answers;
    for (const Arrival& arrival : wire.feed({buffer.data(), static_cast<std::size_t>(got)})) {
      if (arrival.kind != Arrival::Kind::packet)
        continue;
      answers += acks ? "+" : "";
      answers += frame(stub.answer(arrival.payload));
      acks = acks && arrival.payload != "QStartNoAckMode";
    }
    if (!send(answers))
      return;
  }
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv, argv + argc);
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (has("-G") || has("-O")) // no configuration, no master
    return 0;
  const auto end = std::find(words.begin(), words.end(), "--");
  if (end == words.end() || end + 1 == words.end())
    return ssh_failed;
  const std::string host(*(end + 1));
  if (host == crowd_file("dead")) {
    fmt::print(stderr, "ssh: connect to host {} port 22: Connection refused\n", host);
    return ssh_failed;
  }
  if (host == crowd_file("silent"))
    pause();
  serve();
  return 0;
}
