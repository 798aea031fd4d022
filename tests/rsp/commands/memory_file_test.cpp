// Memory read through /proc/PID/mem, where the stub opens it and it is the right one.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "tests/support/connected.h"
#include "tests/support/gdb_server.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_memory.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::AtHole;
using test::BinaryForm;
using test::connected;
using test::GdbServer;
using test::pattern;
using test::ScriptedStub;
using test::StubMemory;

constexpr std::size_t mib = std::size_t{1} << 20;
using limits::page;

/// What is read of `size` bytes from `address` on.
std::string read_all(Client& client, std::uint64_t address, std::size_t size) {
  std::string into(size, '?');
  ReadRequest request{address, std::as_writable_bytes(std::span(into))};
  const auto done = read_memory(client, {&request, 1});
  EXPECT_TRUE(done) << done.error().message;
  return into.substr(0, request.read);
}

/// A gdbserver that opens files, as a script. What it reads through them is told by a handler.
class ScriptedMemoryFile : public testing::Test {
protected:
  void serve(std::uint64_t address) {
    memory.put(address, pattern(address, size));
    stub.on("qSupported",
            Answer::packet("PacketSize=47ff;QStartNoAckMode+;multiprocess+;qXfer:osdata:read+;"
                           "QTBuffer:size+;QAllow+;qXfer:libraries-svr4:read+"));
    memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x23ff);
    stub.on("vFile:setfs:", Answer::packet("F0")).on("vFile:close:", Answer::packet("F0"));
    stub.on("vFile:open:", Answer::packet(open_answer));
    stub.on("vFile:pread:5,", [this](std::string_view payload) {
      const auto comma = payload.rfind(',');
      const auto at = std::stoull(std::string(payload.substr(comma + 1)), nullptr, 16);
      const auto length =
          std::stoul(std::string(payload.substr(payload.find(',') + 1)), nullptr, 16);
      return Answer::packet(pread ? pread(at, length) : through_file(at, length));
    });
    client = connected(stub);
    ASSERT_TRUE(client);
    ASSERT_EQ(client->features().kind, StubKind::gdbserver);
    ASSERT_TRUE(client->features().vfile);
    client->set_detach_packet("D;4d");
    stub.on("D;4d", Answer::packet("OK"));
  }
  std::string through_file(std::uint64_t address, std::size_t length) const {
    const std::string bytes = memory.read(address, length);
    return fmt::format("F{:x};", bytes.size()) + bytes;
  }
  /// Three times: what opens the file, what checks it, what may use it.
  void read_three_times(std::uint64_t address) {
    for (int time = 0; time < 3; ++time) {
      const auto before = client->counters().round_trips;
      EXPECT_TRUE(read_all(*client, address, size) == memory.read(address, size));
      EXPECT_EQ(client->counters().round_trips - before, 1U) << "it costs no round trip";
    }
  }

  static constexpr std::size_t size = mib;
  static constexpr std::size_t pieces = size / 8192;
  std::string open_answer = "F5";
  std::function<std::string(std::uint64_t, std::size_t)> pread;
  StubMemory memory;
  ScriptedStub stub;
  std::unique_ptr<Client> client;
};

constexpr std::uint64_t low = 0x20000000;
constexpr std::uint64_t high = 0x7f0000000000;

TEST_F(ScriptedMemoryFile, IsOpenedCheckedAndUsed) {
  serve(high);
  read_three_times(high);
  EXPECT_EQ(stub.count("vFile:open:2f70726f632f37372f6d656d,0,0"), 1U); // /proc/77/mem
  // All of the third time, and of the second time what was asked for after the check.
  EXPECT_GT(stub.count("vFile:pread:"), pieces);
  EXPECT_LT(stub.count("m7f"), 2 * pieces);
  EXPECT_EQ(stub.count("vFile:pread:") + stub.count("m7f"), 3 * pieces + 1);
}

TEST_F(ScriptedMemoryFile, OfHighAddressesIsLeftWhereItIsRefused) {
  pread = [this](std::uint64_t at, std::size_t length) {
    return at >= std::uint64_t{1} << 31 ? "F-1,16" : through_file(at, length);
  };
  memory.put(low, pattern(low, size));
  serve(high);
  read_three_times(high);
  EXPECT_EQ(stub.count("vFile:pread:"), 1U);
  EXPECT_TRUE(read_all(*client, low, size) == memory.read(low, size));
  EXPECT_TRUE(read_all(*client, low, size) == memory.read(low, size));
  EXPECT_GT(stub.count("vFile:pread:"), pieces); // those below 2 GiB
}

TEST_F(ScriptedMemoryFile, OfAnotherProcessIsNotUsed) {
  pread = [](std::uint64_t, std::size_t length) {
    return fmt::format("F{:x};", length) + std::string(length, 'x');
  };
  serve(low);
  read_three_times(low);
  EXPECT_EQ(stub.count("vFile:pread:"), 1U);
}

TEST_F(ScriptedMemoryFile, WithoutItAllIsReadAsBefore) {
  for (const std::string answer : {"F-1,d", "", "OK", "E01"}) {
    open_answer = answer;
    serve(low);
    read_three_times(low);
    EXPECT_EQ(stub.count("vFile:pread:"), 0U) << answer;
    client->released();
    client.reset();
  }
}

TEST_F(ScriptedMemoryFile, SaysLessThanItsAnswersLengthIsNotBelieved) {
  int answered = 0;
  pread = [this, &answered](std::uint64_t at, std::size_t length) {
    return ++answered < 4 ? through_file(at, length) : "F2000;" + std::string(3, 'x');
  };
  serve(low);
  for (int time = 0; time < 3; ++time)
    EXPECT_TRUE(read_all(*client, low, size) == memory.read(low, size));
}

TEST_F(ScriptedMemoryFile, AHoleIsFoundByM) {
  serve(low);
  read_three_times(low);
  const auto before = stub.count("m");
  EXPECT_EQ(read_all(*client, low + size - 8192, 16384).size(), 8192U);
  EXPECT_GT(stub.count("m"), before);
}

TEST_F(ScriptedMemoryFile, APageThatItRefusesIsNoHoleUnlessMSaysSo) {
  std::atomic<bool> refuses = false;
  pread = [this, &refuses](std::uint64_t at, std::size_t length) {
    return refuses ? "F-1,5" : through_file(at, length);
  };
  serve(low);
  read_three_times(low);
  refuses = true;
  std::string pages(2 * page, '?');
  const auto into = std::as_writable_bytes(std::span(pages));
  std::vector<ReadRequest> requests = {{low + 8192, into.first(page)},
                                       {low + size, into.subspan(page)}};
  const auto before = stub.count("vFile:pread:");
  ASSERT_TRUE(read_memory(*client, requests, {.grain = page}));
  EXPECT_GT(stub.count("vFile:pread:"), before);
  EXPECT_EQ(requests[0].read, page);
  EXPECT_TRUE(pages.substr(0, page) == memory.read(low + 8192, page));
  EXPECT_EQ(requests[1].read, 0U);
}

/// What was in the buffer before is nothing to compare with.
TEST_F(ScriptedMemoryFile, IsNotCheckedByAHole) {
  pread = [](std::uint64_t, std::size_t length) {
    return fmt::format("F{:x};", length) + std::string(length, '?');
  };
  serve(low);
  EXPECT_TRUE(read_all(*client, low, size) == memory.read(low, size));
  EXPECT_EQ(read_all(*client, low - 65536, 8192), "");
  EXPECT_GT(stub.count("vFile:pread:"), 0U);
  EXPECT_TRUE(read_all(*client, low, size) == memory.read(low, size));
}

TEST_F(ScriptedMemoryFile, ALittleIsNotWorthIt) {
  serve(low);
  EXPECT_EQ(read_all(*client, low, 900 * 1024).size(), 900U * 1024);
  EXPECT_EQ(stub.count("vFile:open:"), 0U);
}

TEST_F(ScriptedMemoryFile, IsClosedBeforeTheTargetIsLeft) {
  serve(low);
  read_three_times(low);
  ASSERT_TRUE(detach(*client));
  const auto packets = stub.received();
  const auto close = std::find(packets.begin(), packets.end(), "vFile:close:5");
  ASSERT_NE(close, packets.end());
  EXPECT_NE(std::find(close, packets.end(), "D;4d"), packets.end());
}

/// A process with memory below 2 GiB, which every gdbserver reads through the file.
class LowMemory {
public:
  LowMemory() {
    void* const at = mmap(reinterpret_cast<void*>(low), size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at), low);
    const std::string bytes = pattern(0x1234567, size);
    std::memcpy(at, bytes.data(), size);
    process = fork();
    while (process == 0)
      pause();
    munmap(at, size);
  }
  ~LowMemory() {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  LowMemory(const LowMemory&) = delete;
  LowMemory& operator=(const LowMemory&) = delete;

  static constexpr std::size_t size = 4 * mib;
  pid_t process = 0;
};

TEST(MemoryFileOfGdbserver, BringsTheSameWithFewerBytes) {
  const LowMemory inferior;
  const GdbServer server(test::ServerMode::attach_once, inferior.process);
  const auto client = connected(server.endpoint());
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  const std::string truth = pattern(0x1234567, LowMemory::size);
  std::vector<std::uint64_t> received;
  for (int time = 0; time < 3; ++time) {
    const auto before = client->counters().bytes_received;
    EXPECT_TRUE(read_all(*client, low, LowMemory::size) == truth);
    received.push_back(client->counters().bytes_received - before);
  }
  // Not in hexadecimal; replies of gdbserver 16 are not, either.
  const bool binary = client->features().binary_read != BinaryRead::none;
  EXPECT_LT(received[2], binary ? received[0] * 11 / 10 : received[0] * 2 / 3);
  // From the last byte on into what is not there.
  EXPECT_EQ(read_all(*client, low + LowMemory::size - 5000, 70'000).size(), 5000U);
  const auto left = detach(*client);
  EXPECT_TRUE(left) << left.error().message;
}

} // namespace
} // namespace mqbridge::rsp
