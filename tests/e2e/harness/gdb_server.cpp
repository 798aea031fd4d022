#include "tests/e2e/harness/gdb_server.h"

#include "tests/e2e/harness/eventually.h"
#include "tests/e2e/harness/loopback.h"
#include "tests/e2e/harness/process_table.h"

#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <ostream>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;

constexpr const char* any_port = "127.0.0.1:0";

ChildSpec attach_command(ServerMode mode, pid_t pid) {
  switch (mode) {
  case ServerMode::attach:
    return {{"gdbserver", "--attach", any_port, std::to_string(pid)}};
  case ServerMode::attach_once:
    return {{"gdbserver", "--once", "--attach", any_port, std::to_string(pid)}};
  case ServerMode::multi:
    return {{"gdbserver", "--multi", any_port}};
  case ServerMode::spawned:
  case ServerMode::spawned_once:
    break;
  }
  throw std::logic_error("a spawning gdbserver needs a program");
}

ChildSpec spawn_command(ServerMode mode, const ChildSpec& program) {
  ChildSpec spec = program;
  spec.argv = {"gdbserver"};
  if (mode == ServerMode::spawned_once)
    spec.argv.emplace_back("--once");
  spec.argv.emplace_back(any_port);
  spec.argv.insert(spec.argv.end(), program.argv.begin(), program.argv.end());
  return spec;
}

std::string packet(std::string_view payload) {
  unsigned sum = 0;
  for (const char c : payload)
    sum += static_cast<unsigned char>(c);
  return fmt::format("${}#{:02x}", payload, sum & 0xff);
}

// Reads until a stop reply is whole; false when the time is over or the server has gone.
bool await_stop_reply(int socket, std::chrono::milliseconds timeout) {
  std::string seen;
  return eventually(timeout, [&] {
    char chunk[512];
    pollfd ready = {socket, POLLIN, 0};
    if (poll(&ready, 1, 50) == 1) {
      const ssize_t got = recv(socket, chunk, sizeof chunk, 0);
      if (got > 0)
        seen.append(chunk, static_cast<std::size_t>(got));
    }
    const std::size_t start = seen.find("$T");
    return start != std::string::npos && seen.find('#', start) != std::string::npos &&
           seen.size() >= seen.find('#', start) + 3;
  });
}

} // namespace

const char* to_string(ServerMode mode) {
  switch (mode) {
  case ServerMode::attach:
    return "attach";
  case ServerMode::attach_once:
    return "attach_once";
  case ServerMode::multi:
    return "multi";
  case ServerMode::spawned:
    return "spawned";
  case ServerMode::spawned_once:
    return "spawned_once";
  }
  return "?";
}

void PrintTo(ServerMode mode, std::ostream* stream) {
  *stream << to_string(mode);
}

ServerMode mode_for(std::size_t bytes_from_server) {
  constexpr std::size_t negotiation_and_first_stop = 2000;
  return bytes_from_server < negotiation_and_first_stop ? ServerMode::attach_once
                                                        : ServerMode::attach;
}

GdbServer::GdbServer(ServerMode mode, pid_t pid)
    : mode_(mode), inferior_(pid), process_(attach_command(mode, pid)) {
  await_listening();
}

GdbServer::GdbServer(ServerMode mode, const ChildSpec& program)
    : mode_(mode), process_(spawn_command(mode, program)) {
  await_listening();
  const std::vector<pid_t> children = children_of(process_.pid());
  if (children.empty())
    throw std::runtime_error("gdbserver started nothing: " + process_.err());
  inferior_ = children.front();
}

GdbServer::~GdbServer() {
  // Once detached it is no longer the server's, so nobody else ends it. The server first: a dead
  // child of a living one can be waited for by nobody else.
  process_.signal(SIGKILL);
  process_.wait(5s);
  if ((mode_ == ServerMode::spawned || mode_ == ServerMode::spawned_once) && inferior_ > 0)
    kill_and_reap(inferior_);
}

void GdbServer::await_listening() {
  constexpr std::string_view words = "Listening on port ";
  const bool listening = eventually(20s, [&] {
    const std::string said = process_.err();
    const std::size_t at = said.find(words);
    if (at == std::string::npos || said.find('\n', at) == std::string::npos)
      return false;
    port_ = static_cast<std::uint16_t>(std::atoi(said.c_str() + at + words.size()));
    return true;
  });
  if (!listening)
    throw std::runtime_error("gdbserver does not listen: " + process_.err());
}

std::string GdbServer::endpoint() const {
  return fmt::format("127.0.0.1:{}{}", port_, process_suffix());
}

std::string GdbServer::process_suffix() const {
  return mode_ == ServerMode::multi ? fmt::format("@{}", inferior_) : "";
}

int GdbServer::clients() const {
  constexpr std::string_view words = "Remote debugging from host";
  const std::string said = process_.err();
  int count = 0;
  for (std::size_t at = said.find(words); at != std::string::npos; at = said.find(words, at + 1))
    ++count;
  return count;
}

void run_to_signal(std::uint16_t port, std::chrono::milliseconds timeout) {
  const LoopbackSocket socket = connect_loopback(port);
  // '?' first: a server answers nothing sensible before it knows that a client asks about its
  // process.
  send_all(socket.get(), packet("?"));
  if (!await_stop_reply(socket.get(), timeout))
    throw std::runtime_error("the spawned process is not held");
  send_all(socket.get(), "+" + packet("c"));
  if (!await_stop_reply(socket.get(), timeout))
    throw std::runtime_error("the spawned process raised no signal");
  send_all(socket.get(), "+");
}

} // namespace mqbridge::e2e
