// How fast replies are taken apart and requests framed: bytes on the wire a second, so that a
// link's speed can be compared.

#include "rsp/packet/codec.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using mqbridge::rsp::Decoder;

/// Memory that looks like a heap: pointers, small numbers and zeros.
std::string heap_like(std::size_t size) {
  std::string bytes;
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  while (bytes.size() < size) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t pick = state >> 62U;
    const std::uint64_t word = pick == 0   ? 0
                               : pick == 1 ? state >> 40U
                                           : 0x7f1c00000000U + (state >> 32U);
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  bytes.resize(size);
  return bytes;
}

/// What gdbserver makes of a payload: runs of four and more are written with their length.
std::string with_runs(std::string_view payload) {
  constexpr std::size_t longest = 97;
  std::string wire;
  for (std::size_t at = 0; at < payload.size();) {
    const std::size_t end = std::min(payload.find_first_not_of(payload[at], at), payload.size());
    const std::size_t run = std::min(end - at, longest + 1);
    const char count = static_cast<char>(run - 1 + 29);
    if (run < 4 || count == '#' || count == '$') {
      wire += payload[at++];
      continue;
    }
    wire += payload[at];
    wire += '*';
    wire += count;
    at += run;
  }
  return wire;
}

std::string framed(std::string_view wire) {
  unsigned sum = 0;
  for (const char byte : wire)
    sum += static_cast<unsigned char>(byte);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string frame(1, '$');
  frame += wire;
  frame += '#';
  frame += digits[sum >> 4U & 15U];
  frame += digits[sum & 15U];
  return frame;
}

/// The frame's bytes as a socket brings them, to memory in its place.
void decode(benchmark::State& state, const std::string& memory, const std::string& frame,
            bool hex) {
  Decoder decoder;
  std::vector<std::byte> into(memory.size());
  const auto once = [&] {
    decoder.feed(frame);
    const auto event = decoder.next();
    if (!event || event->kind != Decoder::Kind::packet)
      return false;
    if (hex)
      return mqbridge::rsp::decode_hex(event->bytes, into);
    std::copy_n(reinterpret_cast<const std::byte*>(event->bytes.data()),
                std::min(event->bytes.size(), into.size()), into.data());
    return event->bytes.size() == into.size();
  };
  if (!once() ||
      !std::equal(into.begin(), into.end(), reinterpret_cast<const std::byte*>(memory.data())))
    return state.SkipWithError("the decoder gives back something else");
  for (auto _ : state) {
    benchmark::DoNotOptimize(once());
    benchmark::ClobberMemory();
  }
  const auto times = state.iterations();
  state.SetBytesProcessed(times * static_cast<std::int64_t>(frame.size()));
  state.counters["memory"] = benchmark::Counter(
      static_cast<double>(times) * static_cast<double>(memory.size()), benchmark::Counter::kIsRate);
}

void decode_hex_reply(benchmark::State& state) {
  const auto memory = heap_like(static_cast<std::size_t>(state.range(0)));
  decode(state, memory, framed(mqbridge::rsp::encode_hex(memory)), true);
}
BENCHMARK(decode_hex_reply)->Arg(64)->Arg(4096)->Arg(9215)->Arg(65536);

/// As gdbserver sends it.
void decode_hex_reply_with_runs(benchmark::State& state) {
  const auto memory = heap_like(static_cast<std::size_t>(state.range(0)));
  decode(state, memory, framed(with_runs(mqbridge::rsp::encode_hex(memory))), true);
}
BENCHMARK(decode_hex_reply_with_runs)->Arg(64)->Arg(4096)->Arg(9215)->Arg(65536);

void decode_binary_reply(benchmark::State& state) {
  const auto memory = heap_like(static_cast<std::size_t>(state.range(0)));
  decode(state, memory, mqbridge::rsp::encode(memory), false);
}
BENCHMARK(decode_binary_reply)->Arg(4096)->Arg(65536);

void encode_request(benchmark::State& state) {
  const std::string request = "m7f1c4b001000,1000";
  if (mqbridge::rsp::encode(request) != framed(request))
    return state.SkipWithError("the frame is wrong");
  for (auto _ : state)
    benchmark::DoNotOptimize(mqbridge::rsp::encode(request));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(encode_request);

} // namespace
