#include "rsp/commands/registers.h"

#include "rsp/client/shared_stub.h"
#include "rsp/codes.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

namespace mqbridge::rsp {
namespace {

using Registers = std::optional<RegisterBytes>;

/// Threads of one burst: 64 of the program, and some that its libraries have started. All replies
/// are kept until the last one has come, and each may have the size of the longest packet.
constexpr std::size_t threads_a_burst = 96;

std::string select_request(const ThreadId& id) {
  return id.pid != 0 ? fmt::format("Hgp{:x}.{:x}", id.pid, id.tid) : fmt::format("Hg{:x}", id.tid);
}

Failure garbage(const ThreadInfo& thread, std::string_view what, std::string_view reply) {
  return fail(codes::stub_garbage,
              fmt::format("{} for thread {}: '{}'", what, thread.tid, shorten(reply)),
              "look at what the stub says with --trace FILE");
}

} // namespace

Registers parse_registers(std::string_view digits) {
  if (digits.size() % 2 != 0)
    return std::nullopt;
  RegisterBytes bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto pair = digits.substr(2 * i, 2);
    std::byte value{};
    if (pair == "xx")
      continue;
    if (!decode_hex(pair, {&value, 1}))
      return std::nullopt;
    bytes[i] = value;
  }
  return bytes;
}

namespace {

/// Takes a stub's replies to `Hg` and to the `g` behind it. The second reply is about `thread` only
/// if the first is "OK": else another thread is still selected.
Result<Registers> take(const ThreadInfo& thread, std::string_view selected,
                       std::string_view reply) {
  if (selected != "OK" && !selected.empty() && !is_error_reply(selected))
    return garbage(thread, "the stub's reply to Hg is none", selected);
  // A list may name 0 ("any thread") or -1 ("all"): then the registers are some thread's.
  if (thread.tid <= 0 || selected != "OK" || reply.empty() || is_error_reply(reply))
    return Registers();
  if (reply.size() > 2 * limits::registers)
    return garbage(thread, fmt::format("more than {} bytes of registers", limits::registers),
                   reply);
  auto bytes = parse_registers(reply);
  if (!bytes)
    return garbage(thread, "the stub's registers are no pairs of hexadecimal digits", reply);
  return bytes;
}

/// `Hg` and `g` for each thread, in turn. The burst ends with `back_to` selected.
std::vector<std::string> questions_about(std::span<const ThreadInfo> threads,
                                         const ThreadId& back_to) {
  std::vector<std::string> questions;
  for (const auto& thread : threads) {
    questions.push_back(select_request({thread.pid, thread.tid}));
    questions.emplace_back("g");
  }
  questions.push_back(select_request(back_to));
  return questions;
}

/// The replies to questions_about().
Result<std::vector<std::string>> ask(Client& client, std::span<const ThreadInfo> threads,
                                     const ThreadId& back_to) {
  auto replies = client.burst(questions_about(threads, back_to));
  if (replies && replies->back() != "OK")
    client.stub()->set_selected(0);
  return replies;
}

} // namespace

Result<std::vector<std::optional<RegisterBytes>>>
read_registers(Client& client, std::span<const ThreadInfo> threads, const ThreadId& back_to) {
  std::vector<Registers> all;
  std::size_t bytes = 0;
  while (all.size() < threads.size()) {
    const auto rest = threads.subspan(all.size());
    const auto some = rest.first(std::min(rest.size(), threads_a_burst));
    const auto replies = ask(client, some, back_to);
    if (!replies)
      return Failure(replies.error());
    for (std::size_t i = 0; i < some.size(); ++i) {
      auto registers = take(some[i], (*replies)[2 * i], (*replies)[2 * i + 1]);
      if (!registers)
        return forward(std::move(registers));
      bytes += *registers ? (*registers)->size() : 0;
      if (bytes > limits::all_registers)
        return garbage(some[i],
                       fmt::format("more than {} bytes of registers in all, up to those",
                                   limits::all_registers),
                       (*replies)[2 * i + 1]);
      all.push_back(std::move(*registers));
    }
  }
  return all;
}

} // namespace mqbridge::rsp
