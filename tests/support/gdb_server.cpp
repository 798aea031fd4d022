#include "tests/support/gdb_server.h"

#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* any_port = "127.0.0.1:0";

ChildSpec attach_command(ServerMode mode, pid_t pid) {
  if (mode == ServerMode::multi)
    return {{"gdbserver", "--multi", any_port}};
  if (mode == ServerMode::attach_once)
    return {{"gdbserver", "--once", "--attach", any_port, std::to_string(pid)}};
  return {{"gdbserver", "--attach", any_port, std::to_string(pid)}};
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

} // namespace

std::string to_string(ServerMode mode) {
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
  case ServerMode::stdio:
    return "stdio";
  }
  return "?";
}

void PrintTo(ServerMode mode, std::ostream* stream) {
  *stream << to_string(mode);
}

bool spawns(ServerMode mode) {
  return mode == ServerMode::spawned || mode == ServerMode::spawned_once;
}

GdbServer::GdbServer(ServerMode mode, pid_t pid) : mode_(mode), inferior_(pid) {
  if (spawns(mode))
    throw std::logic_error("a spawning gdbserver needs a program");
  if (mode != ServerMode::stdio)
    serve(attach_command(mode, pid));
}

GdbServer::GdbServer(ServerMode mode, const ChildSpec& program) : mode_(mode) {
  if (spawns(mode)) {
    serve(spawn_command(mode, program));
    const std::vector<pid_t> children = children_of(server_->pid());
    if (children.empty())
      throw std::runtime_error("gdbserver started nothing: " + err());
    inferior_ = children.front();
    return;
  }
  own_inferior_.emplace(program);
  inferior_ = own_inferior_->pid();
  // Once it sleeps, its libraries are loaded: the server stops it as soon as it attaches.
  eventually(1s, [this] { return process_state(inferior_) == 'S'; });
  if (mode != ServerMode::stdio)
    serve(attach_command(mode, inferior_));
}

GdbServer::~GdbServer() {
  if (!server_)
    return;
  // The server first: a dead child of a living one can be waited for by nobody else. And a process
  // that it spawned and let go is no longer its own, so nobody else ends it.
  server_->signal(SIGKILL);
  server_->wait(5s);
  if (spawns(mode_))
    kill_and_reap(inferior_);
}

void GdbServer::serve(const ChildSpec& command) {
  constexpr std::string_view words = "Listening on port ";
  server_.emplace(command);
  const bool listening = eventually(20s, [&] {
    const std::string said = err();
    const std::size_t at = said.find(words);
    if (at == std::string::npos || said.find('\n', at) == std::string::npos)
      return false;
    port_ = static_cast<std::uint16_t>(std::atoi(said.c_str() + at + words.size()));
    return true;
  });
  if (!listening)
    throw std::runtime_error("gdbserver does not listen: " + err());
}

std::string GdbServer::endpoint() const {
  return mode_ == ServerMode::stdio
             ? fmt::format("exec:exec gdbserver --once --attach - {}", inferior_)
             : fmt::format("127.0.0.1:{}{}", port_, process_suffix());
}

std::string GdbServer::process_suffix() const {
  return mode_ == ServerMode::multi ? fmt::format("@{}", inferior_) : "";
}

int GdbServer::clients() const {
  constexpr std::string_view words = "Remote debugging from host";
  const std::string said = err();
  int count = 0;
  for (std::size_t at = said.find(words); at != std::string::npos; at = said.find(words, at + 1))
    ++count;
  return count;
}

} // namespace mqbridge::test
