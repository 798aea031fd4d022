#include "host/bridge/inferior_calls.h"

#include "host/bridge/requests.h"
#include "host/stacks/thread_registers.h"
#include "rsp/commands/registers.h"
#include "rsp/guardian/protocol.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

struct Place {
  std::uint64_t code = 0;
  std::uint64_t stack = 0;
};

ProcessThread thread_with(const std::string& registers) {
  ProcessThread thread;
  thread.registers = rsp::parse_registers(registers);
  return thread;
}

/// A detach hands no signal on. A called function returns to a place where no code is, and the
/// process stops there by SIGSEGV. A gdbserver would hand that signal on, even though the debugger
/// has written the registers of before.
const std::string no_signals = "QProgramSignals:";

/// Where a thread with these registers stands; nullopt: they do not tell.
std::optional<Place> place_of(const std::string& registers, const Platform& platform) {
  const auto thread = thread_with(registers);
  const auto code = program_counter(thread, platform);
  const auto stack = stack_pointer(thread, platform);
  return code && stack ? std::optional(Place{*code, *stack}) : std::nullopt;
}

/// Registers in a system call that the kernel takes up again with what it has kept of it
/// (nanosleep, poll; ERESTART_RESTARTBLOCK). It keeps one call, and the function that the debugger
/// has called may have put another one there: this one returns EINTR, as it would after a signal.
std::string without_kept_call(std::string registers, const Platform& platform) {
  constexpr std::int64_t restart_block = -516;
  constexpr std::int64_t interrupted = -4;
  const auto thread = thread_with(registers);
  const auto place =
      register_place(thread, platform, architecture_of(platform).system_calls.result);
  const auto value =
      place ? register_at(thread, platform, place->offset, place->size) : std::nullopt;
  if (!value || static_cast<std::int32_t>(*value) != restart_block)
    return registers;
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  const auto into = std::span(bytes).first(place->size);
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto digit = platform.byte_order == ByteOrder::little ? i : into.size() - 1 - i;
    into[digit] = static_cast<std::byte>(static_cast<std::uint64_t>(interrupted) >> (8 * i));
  }
  const std::string_view raw(reinterpret_cast<const char*>(into.data()), into.size());
  return registers.replace(2 * std::size_t{place->offset}, 2 * into.size(), rsp::encode_hex(raw));
}

} // namespace

Result<std::string> InferiorCalls::write(const std::string& packet, const std::string& selection,
                                         const std::optional<Platform>& platform) {
  std::vector<std::string> packets = {packet, "g"};
  const bool is_first = !before_.contains(selection);
  if (is_first)
    packets.insert(packets.begin(), "g");
  const auto replies = stub_.burst(packets);
  if (!replies)
    return Failure(replies.error());
  if (is_first)
    before_[selection] = replies->front();
  if (platform)
    look(selection, replies->back(), *platform);
  return (*replies)[is_first ? 1 : 0];
}

void InferiorCalls::look(const std::string& selection, const std::string& now,
                         const Platform& platform) {
  const auto place = place_of(now, platform);
  const auto before = place_of(before_[selection], platform);
  if (!place || !before)
    return;
  if (const auto call = calls_.find(selection); call != calls_.end()) {
    const auto outside = place_of(call->second, platform);
    if (!outside || place->stack >= outside->stack)
      drop(selection);
  } else if (place->stack < before->stack && place->code != before->code) {
    add(selection, without_kept_call(before_[selection], platform));
  }
}

void InferiorCalls::add(const std::string& selection, std::string registers) {
  if (takes_signals_ && !std::exchange(drops_signals_, true))
    stub_.holds().add_packet_before_detach(no_signals);
  stub_.holds().add_packet_before_detach(rsp::guardian::write_registers(selection, registers));
  calls_.emplace(selection, std::move(registers));
}

void InferiorCalls::drop(const std::string& selection) {
  const auto call = calls_.find(selection);
  stub_.holds().drop_detach_packet(rsp::guardian::write_registers(selection, call->second));
  calls_.erase(call);
}

void InferiorCalls::process_runs() {
  before_.clear();
  if (calls_.empty() && std::exchange(drops_signals_, false))
    stub_.holds().drop_detach_packet(no_signals);
}

Result<void> InferiorCalls::undo() {
  if (drops_signals_) {
    if (auto told = stub_.request(no_signals); !told)
      return forward(std::move(told));
    drops_signals_ = false;
    stub_.holds().drop_detach_packet(no_signals);
  }
  while (!calls_.empty()) {
    const auto [selection, registers] = *calls_.begin();
    drop(selection);
    if (!selection.empty()) { // of a stub that names its threads
      const auto selected = stub_.request(selection);
      if (!selected)
        return Failure(selected.error());
      if (*selected != "OK")
        continue; // the thread has ended
    }
    const auto reply = stub_.request("G" + registers);
    if (!reply)
      return Failure(reply.error());
    if (*reply != "OK")
      return fail("detach.refused",
                  fmt::format("the debugger has left in the middle of a call, and the stub answers "
                              "'{}' when the registers of before are to be written",
                              rsp::shorten(*reply)),
                  "the process may go astray when the called function returns");
  }
  return {};
}

void InferiorCalls::forget(const std::string& process) {
  std::vector<std::string> gone;
  for (const auto& [selection, registers] : calls_)
    if (process.empty() || process_in(selection) == process)
      gone.push_back(selection);
  for (const std::string& selection : gone)
    drop(selection);
  before_.clear();
}

} // namespace mqbridge
