#include "host/bridge/inferior_calls.h"

#include "host/bridge/requests.h"
#include "host/stacks/thread_registers.h"
#include "rsp/commands/registers.h"
#include "rsp/guardian/protocol.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
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

/// Without those by which a function ends that has gone wrong, or that returns to a place where no
/// code is. A gdbserver would hand such a signal on at a detach, even though the debugger has
/// written the registers of before.
std::string without_faults(std::string_view list) {
  constexpr std::array<std::string_view, 7> faults = {"4", "6", "7", "8", "a", "b", "c"};
  std::string kept;
  while (!list.empty()) {
    const auto number = list.substr(0, list.find(';'));
    list.remove_prefix(std::min(number.size() + 1, list.size()));
    if (!number.empty() && std::ranges::find(faults, number) == faults.end())
      kept += (kept.empty() ? "" : ";") + std::string(number);
  }
  return kept;
}

constexpr std::string_view signals_name = "QProgramSignals:";

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
    if (auto looked = look(selection, replies->back(), *platform); !looked)
      return forward(std::move(looked));
  return (*replies)[is_first ? 1 : 0];
}

Result<void> InferiorCalls::look(const std::string& selection, const std::string& now,
                                 const Platform& platform) {
  const auto place = place_of(now, platform);
  const auto before = place_of(before_[selection], platform);
  if (!place || !before)
    return {};
  if (const auto call = calls_.find(selection); call != calls_.end()) {
    if (place->stack >= call->second.stack)
      drop(call);
    return {};
  }
  const bool is_whole = before_[selection].find('x') == std::string::npos; // it can be written back
  if (place->stack >= before->stack || place->code == before->code || !is_whole)
    return {};
  // What the called function does not write: the address to which it returns, or else what lies
  // behind its arguments.
  const bool is_on_stack = architecture_of(platform).returns_by_stack;
  constexpr std::uint64_t most = 64;
  const auto size = is_on_stack ? static_cast<std::uint64_t>(platform.pointer_size)
                                : std::min(most, before->stack - place->stack);
  Call call{without_kept_call(before_[selection], platform),
            platform,
            before->stack,
            fmt::format("m{:x},{:x}", is_on_stack ? place->stack : before->stack - size, size),
            {},
            {}};
  auto frame = stub_.request(call.frame_request);
  if (!frame)
    return forward(std::move(frame));
  if (frame->size() != 2 * size)
    return {};
  call.frame = std::move(*frame);
  call.order =
      rsp::guardian::write_registers(selection, is_on_stack ? call.frame : "", call.registers);
  if (signals_ && fewer_signals_.empty()) {
    fewer_signals_ = std::string(signals_name) + without_faults(*signals_);
    stub_.holds().add_packet_before_detach(fewer_signals_);
  }
  stub_.holds().add_packet_before_detach(call.order);
  calls_.emplace(selection, std::move(call));
  return {};
}

void InferiorCalls::process_runs() {
  before_.clear();
  if (calls_.empty() && !fewer_signals_.empty())
    stub_.holds().drop_detach_packet(std::exchange(fewer_signals_, {}));
}

Result<void> InferiorCalls::process_stopped() {
  for (auto call = calls_.begin(); call != calls_.end();) {
    const auto stays = goes_on(call->first, call->second);
    if (!stays)
      return Failure(stays.error());
    call = *stays ? std::next(call) : drop(call);
  }
  return {};
}

/// Whether the thread is still in the call. It is selected then.
Result<bool> InferiorCalls::goes_on(const std::string& selection, const Call& call) {
  std::vector<std::string> packets = {"g", call.frame_request};
  if (!selection.empty()) // of a stub that names its threads
    packets.insert(packets.begin(), selection);
  const auto replies = stub_.burst(packets);
  if (!replies)
    return Failure(replies.error());
  const auto place = place_of((*replies)[packets.size() - 2], call.platform);
  const bool is_there = selection.empty() || replies->front() == "OK";
  return is_there && place && place->stack < call.stack && replies->back() == call.frame;
}

InferiorCalls::Calls::iterator InferiorCalls::drop(Calls::iterator call) {
  stub_.holds().drop_detach_packet(call->second.order);
  return calls_.erase(call);
}

InferiorCalls::Calls::iterator InferiorCalls::next_of(const std::string& process) {
  return std::ranges::find_if(calls_, [&](const auto& call) {
    return process.empty() || process_in(call.first) == process;
  });
}

Result<void> InferiorCalls::undo(const std::string& process) {
  if (!fewer_signals_.empty()) {
    if (auto told = stub_.request(fewer_signals_); !told)
      return forward(std::move(told));
    hands_on_fewer_ = true;
  }
  for (auto call = next_of(process); call != calls_.end(); call = next_of(process)) {
    const auto is_in = goes_on(call->first, call->second);
    if (!is_in)
      return Failure(is_in.error());
    if (*is_in) {
      const auto reply = stub_.request("G" + call->second.registers);
      if (!reply)
        return Failure(reply.error());
      if (*reply != "OK")
        return fail("detach.refused",
                    fmt::format("the debugger leaves in the middle of a call, and the stub answers "
                                "'{}' when the registers of before are to be written",
                                rsp::shorten(*reply)),
                    "the process may go astray when the called function returns");
    }
    drop(call);
  }
  before_.clear();
  return {};
}

Result<void> InferiorCalls::restore_signals() {
  if (!std::exchange(hands_on_fewer_, false))
    return {};
  const auto told = stub_.request(std::string(signals_name) + *signals_);
  return told ? Result<void>() : Failure(told.error());
}

void InferiorCalls::forget(const std::string& process) {
  for (auto call = next_of(process); call != calls_.end(); call = next_of(process))
    drop(call);
  before_.clear();
}

} // namespace mqbridge
