#pragma once

#include "rsp/guardian/guardian.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/test_programs.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <variant>

namespace mqbridge::rsp {

/// A client's socket, without anything that speaks RSP by itself.
class RawClient {
public:
  explicit RawClient(const test::ScriptedStub& stub) : RawClient() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string port = std::get<TcpEndpoint>(stub.endpoint().where).port;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  /// Not connected.
  RawClient() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { close(socket_); }

  int descriptor() const { return socket_; }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

private:
  int socket_;
};

inline std::unique_ptr<Guardian> started() {
  auto guardian = Guardian::start(test::guardian_program());
  if (!guardian) {
    ADD_FAILURE() << guardian.error().message;
    return nullptr;
  }
  return std::move(*guardian);
}

/// The process has become known: its packet instead of the first one.
inline void name_process(Guardian& guardian, std::uint32_t handle, const char* packet) {
  guardian.add_detach_packet(handle, packet);
  guardian.drop_detach_packet(handle, "D");
}

/// The guardian is a child of this process, the last one: one before it may still be at work. 0 if
/// there is none.
inline pid_t guardian_pid() {
  pid_t last = 0;
  for (const pid_t child : test::children_of(getpid())) {
    if (test::process_name(child).starts_with("mqbridge-guard"))
      last = child;
  }
  return last;
}

/// The same, once there is one, to send it a signal: number 0 would be our whole process group, and
/// ctest with it.
inline pid_t await_guardian() {
  pid_t pid = 0;
  if (!test::eventually(
          std::chrono::seconds(10), [&] { return (pid = guardian_pid()) != 0; },
          std::chrono::milliseconds(1)))
    throw std::runtime_error("there is no guardian");
  return pid;
}

/// Where the guardians of this process mark what they have taken over: theirs to write, and here a
/// test's, as of a guardian that was killed right behind the mark. Null: there is none.
inline guardian::Takeovers* takeovers() {
  for (const auto& [descriptor, file] : test::descriptors_of(getpid())) {
    if (!file.starts_with("/memfd:mqbridge-guardian"))
      continue;
    void* const memory = mmap(nullptr, sizeof(guardian::Takeovers), PROT_READ | PROT_WRITE,
                              MAP_SHARED, descriptor, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<guardian::Takeovers*>(memory);
  }
  return nullptr;
}

/// What a guardian does when this process is gone, to its end: its destructor closes the channel
/// just so, but waits for a second only, which is little on a busy machine.
inline void release(std::unique_ptr<Guardian> guardian) {
  const pid_t pid = guardian_pid();
  guardian.reset();
  EXPECT_TRUE(test::eventually(std::chrono::seconds(60),
                               [pid] { return waitpid(pid, nullptr, WNOHANG) != 0; }));
}

} // namespace mqbridge::rsp
