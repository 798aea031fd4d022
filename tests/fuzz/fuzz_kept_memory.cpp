// What the bridge keeps of a process's memory: whatever a debugger reads, it gets what the stub
// says at that moment. Input: flags (1: the link has a delay; 2: the stub writes /proc/PID/maps
// when it is opened), then steps.

#include "host/bridge/kept_memory.h"
#include "host/bridge/requests.h"
#include "rsp/client/negotiation.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/support/stub_wire.h"

#include <array>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <thread>

namespace {

using namespace mqbridge;
using test::FuzzInput;
using test::require;

constexpr std::uint64_t begin = 0x10000;
constexpr std::uint64_t page_size = 4096;
constexpr std::size_t pages = 8;

enum class Kind : std::uint8_t { owned, shared, none };

/// A process that stands still, except where the test moves it.
class Process {
public:
  void run(FuzzInput& input) {
    for (auto count = input.number(1) % 8; count > 0; --count)
      ++versions_.at(input.number(1) % pages);
    if (input.number(1) % 4 == 0)
      kinds_.at(input.number(1) % pages) = static_cast<Kind>(input.number(1) % 3);
  }
  void write(std::size_t page) { ++versions_.at(page % pages); }
  /// By another process.
  void write_shared(std::size_t page) {
    if (kinds_.at(page % pages) == Kind::shared)
      write(page);
  }

  /// The reply to `m`.
  std::string read(std::uint64_t address, std::uint64_t size) const {
    std::string bytes;
    for (auto at = address; at < address + size; ++at) {
      const auto page = (at - begin) / page_size;
      if (at < begin || page >= pages || kinds_.at(page) == Kind::none)
        break;
      bytes += static_cast<char>(at * 7 + versions_.at(page) * 31 + page);
    }
    return bytes.empty() ? "E01" : test::to_hex(bytes);
  }
  std::string maps() const {
    std::string text;
    for (std::size_t page = 0; page < pages; ++page)
      if (kinds_.at(page) != Kind::none)
        text +=
            fmt::format("{:08x}-{:08x} rw-{} 00000000 00:00 0 {}\n", begin + page * page_size,
                        begin + (page + 1) * page_size, kinds_.at(page) == Kind::owned ? 'p' : 's',
                        kinds_.at(page) == Kind::owned ? "" : "/dev/shm/x");
    return text;
  }

private:
  std::array<Kind, pages> kinds_{Kind::owned, Kind::owned, Kind::shared, Kind::owned,
                                 Kind::none,  Kind::owned, Kind::owned,  Kind::shared};
  std::array<std::uint64_t, pages> versions_{};
};

/// The stub of that process, and the way to it.
class Stub final : public rsp::Transport {
public:
  Stub(const Process& process, bool is_slow, bool makes_file)
      : process_(process), is_slow_(is_slow), makes_file_(makes_file) {}

  void send(const rsp::Outgoing& bytes) override {
    for (const auto& arrival : reader_.feed(bytes.bytes()))
      if (arrival.kind == test::Arrival::Kind::packet)
        said_ += test::frame(answer(arrival.payload));
  }
  rsp::Received receive(Clock::time_point) override {
    if (is_slow_)
      std::this_thread::sleep_for(std::chrono::microseconds(1200));
    heard_ = std::exchange(said_, {});
    return heard_.empty() ? rsp::Received{rsp::Received::Kind::timed_out, {}}
                          : rsp::Received{rsp::Received::Kind::data, heard_};
  }
  void wake() override {}

private:
  std::string answer(const std::string& packet) {
    const auto numbers = [&](std::size_t from) {
      return parse_two_numbers(std::string_view(packet).substr(from)).value_or(TwoNumbers());
    };
    if (packet.starts_with('m'))
      return process_.read(numbers(1).first, numbers(1).second);
    if (packet.starts_with("vFile:open:")) {
      opened_ = process_.maps();
      return "F5";
    }
    if (packet.starts_with("vFile:fstat:5"))
      return "F40;" + std::string(64, makes_file_ ? '\1' : '\0');
    if (packet.starts_with("vFile:pread:5,")) {
      const auto [size, offset] = numbers(sizeof("vFile:pread:5,") - 1);
      const std::string text = makes_file_ ? opened_ : process_.maps();
      const auto piece = text.substr(std::min<std::size_t>(offset, text.size()), size);
      return fmt::format("F{:x};{}", piece.size(), piece);
    }
    return packet.starts_with("vFile:") ? "F0" : "";
  }

  const Process& process_;
  bool is_slow_;
  bool makes_file_;
  test::WireReader reader_;
  std::string opened_;
  std::string said_;
  std::string heard_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  const auto flags = input.number(1);
  Process process;
  rsp::Connection connection(
      std::make_unique<Stub>(process, (flags & 1) != 0, (flags & 2) != 0),
      {"stub", std::chrono::seconds(2), nullptr, {}, &rsp::debugger_policy()});
  connection.set_no_ack();
  KeptMemory kept(connection);
  kept.set_features(rsp::parse_features("PacketSize=4000"));
  kept.set_process(31);
  constexpr int most = 100;
  for (int step = 0; step < most && !input.empty(); ++step) {
    switch (const auto what = input.number(1); what % 8) {
    case 0:
      process.write_shared(what / 8);
      break;
    case 1:
      kept.forget();
      process.run(input);
      require(kept.process_stopped().has_value());
      break;
    case 2: // the debugger
      process.write(what / 8);
      kept.forget();
      break;
    case 3:
      kept.forget_pages();
      break;
    case 4: // exec
      kept.forget();
      kept.forget_program();
      process.run(input);
      break;
    default: {
      const auto address = begin - 16 + input.number(2) % (pages * page_size + 32);
      const auto length = 1 + input.number(1) * (what < 64 ? 20 : 1);
      const auto reply = kept.answer(fmt::format("m{:x},{:x}", address, length));
      require(reply && *reply == process.read(address, length));
    }
    }
  }
  return 0;
}
