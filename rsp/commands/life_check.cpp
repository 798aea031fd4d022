#include "rsp/commands/life_check.h"

#include "rsp/client/client.h"
#include "rsp/commands/vfile.h"
#include "rsp/exchange/connection.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/stat_line.h"

#include <fmt/format.h>
#include <string>
#include <tuple>

namespace mqbridge::rsp {
namespace {

/// Whether the process has ended, or is exiting: it loses its memory some time before it is a
/// zombie.
bool is_of_the_dead(std::string_view text) {
  constexpr std::uint64_t exiting = 4; // PF_EXITING
  constexpr int flags = 9;
  const auto stat = StatLine::parse(text);
  return stat && (stat->state() == 'Z' || stat->state() == 'X' ||
                  (stat->number(flags).value_or(0) & exiting) != 0);
}

/// Whether the stub says that the process has ended. gdbserver takes a thread for alive until it
/// notices the thread's end.
Result<bool> stub_knows_its_end(Client& client, std::uint64_t pid) {
  auto answer = client.request(client.features().multiprocess ? fmt::format("Tp{0:x}.{0:x}", pid)
                                                              : fmt::format("T{:x}", pid));
  if (!answer)
    return forward(std::move(answer));
  return is_error_reply(*answer);
}

Result<bool> ended_unread(Client& client) {
  constexpr std::size_t longest_stat = 4096;
  const auto pid = client.held_process();
  if (!pid || !client.features().vfile)
    return false;
  auto stat = read_file(client, fmt::format("/proc/{}/stat", *pid), longest_stat);
  if (!stat && client.connection().closed())
    return forward(std::move(stat));
  if (stat && is_of_the_dead(*stat))
    return true;
  return stub_knows_its_end(client, *pid);
}

} // namespace

Error died(const Endpoint& endpoint) {
  return {
      "target.died",
      fmt::format("{}: the process ended while it was held: it was killed, as a batch system does "
                  "when its time is over, and the kernel when memory is short",
                  endpoint.text),
      "on the node: journalctl -k --grep 'Out of memory'    the batch system has its own log"};
}

Result<void> expect_alive(Client& client) {
  // QEMU itself is the process: the connection ends with it.
  if (client.connection().holds().closing_releases())
    return {};
  ProcessLife& life = client.life();
  if (const auto question = life.question(); !question.empty()) {
    auto answer = client.request(question);
    if (!answer)
      return forward(std::move(answer));
    life.take(*answer);
  } else {
    const auto ended = ended_unread(client);
    if (!ended)
      return Failure(ended.error());
    if (*ended)
      life.end();
  }
  return life.ended() ? Result<void>(Failure(died(client.endpoint()))) : Result<void>();
}

void look_for_life(Client& client) {
  if (!client.connection().in_doubt() && !client.connection().closed())
    std::ignore = expect_alive(client);
}

} // namespace mqbridge::rsp
