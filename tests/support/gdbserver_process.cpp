#include "tests/support/gdbserver_process.h"

#include "tests/support/test_programs.h"

#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

constexpr std::string_view any_port = "127.0.0.1:0";

std::vector<std::string> command(ServerMode mode, pid_t pid) {
  const std::string port(any_port);
  switch (mode) {
  case ServerMode::attach:
    return {"gdbserver", "--attach", port, std::to_string(pid)};
  case ServerMode::attach_once:
    return {"gdbserver", "--once", "--attach", port, std::to_string(pid)};
  case ServerMode::multi:
    return {"gdbserver", "--multi", port};
  case ServerMode::spawned:
    return {"gdbserver", port, inferior_program()};
  case ServerMode::spawned_once:
    return {"gdbserver", "--once", port, inferior_program()};
  case ServerMode::stdio:
    break;
  }
  return {};
}

bool spawns(ServerMode mode) {
  return mode == ServerMode::spawned || mode == ServerMode::spawned_once;
}

pid_t only_child(pid_t parent) {
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", parent));
  pid_t child = -1;
  children >> child;
  return child;
}

std::string after(const std::string& text, std::string_view prefix) {
  const std::size_t at = text.find(prefix);
  if (at == std::string::npos)
    return {};
  const std::size_t start = at + prefix.size();
  return text.substr(start, text.find('\n', start) - start);
}

} // namespace

std::string_view name_of(ServerMode mode) {
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

GdbserverProcess::GdbserverProcess(ServerMode mode) : mode_(mode) {
  if (!spawns(mode)) {
    own_inferior_.emplace();
    inferior_ = own_inferior_->pid();
  }
  if (mode == ServerMode::stdio)
    return;
  constexpr std::string_view announcement = "Listening on port ";
  server_ = std::make_unique<ChildProcess>(command(mode, inferior_));
  if (!server_->says(std::string(announcement)))
    ADD_FAILURE() << "gdbserver does not listen: " << server_->errors();
  port_ = after(server_->errors(), announcement);
  if (spawns(mode))
    inferior_ = only_child(server_->pid());
}

GdbserverProcess::~GdbserverProcess() {
  // Once detached, a process that the server started is nobody's child that we could wait for.
  if (spawns(mode_) && inferior_ > 0)
    kill(inferior_, SIGKILL);
}

rsp::Endpoint GdbserverProcess::endpoint() const {
  const std::string text = mode_ == ServerMode::stdio ? fmt::format("local:{}", inferior_)
                           : mode_ == ServerMode::multi
                               ? fmt::format("127.0.0.1:{}@{}", port_, inferior_)
                               : "127.0.0.1:" + port_;
  auto endpoint = rsp::Endpoint::parse(text);
  if (!endpoint) {
    ADD_FAILURE() << endpoint.error().message;
    return {};
  }
  return *endpoint;
}

bool GdbserverProcess::was_reached() const {
  return errors().find("Remote debugging from") != std::string::npos;
}

} // namespace mqbridge::test
