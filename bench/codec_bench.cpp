// How fast replies are taken apart and requests framed: bytes a second, so that a link's speed can
// be compared.

#include "rsp/codec.h"

#include <benchmark/benchmark.h>
#include <cstdint>
#include <string>

namespace {

using mqbridge::rsp::Decoder;

/// Payload of an `m` reply for `size` bytes of memory that looks like a heap: pointers and zeros.
std::string heap_like_hex(std::size_t size) {
  std::string hex;
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  while (hex.size() < 2 * size) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    hex += "0123456789abcdef"[state >> 60U];
    hex += state & 0x100U ? "00007f" : "a0";
  }
  hex.resize(2 * size);
  return hex;
}

void decode_reply(benchmark::State& state) {
  const auto payload = heap_like_hex(static_cast<std::size_t>(state.range(0)));
  const auto frame = mqbridge::rsp::encode(payload);
  Decoder decoder;
  decoder.feed(frame);
  if (const auto checked = decoder.next(); !checked || checked->bytes != payload)
    return state.SkipWithError("the decoder gives back something else");
  for (auto _ : state) {
    decoder.feed(frame);
    benchmark::DoNotOptimize(decoder.next());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(frame.size()));
}
BENCHMARK(decode_reply)->Arg(64)->Arg(4096)->Arg(65536);

void encode_request(benchmark::State& state) {
  const std::string request = "m7f1c4b001000,1000";
  if (mqbridge::rsp::encode(request) != "$m7f1c4b001000,1000#54")
    return state.SkipWithError("the frame is wrong");
  for (auto _ : state)
    benchmark::DoNotOptimize(mqbridge::rsp::encode(request));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(encode_request);

} // namespace
