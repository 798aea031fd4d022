#include "tests/fuzz/played_stub.h"

#include "tests/fuzz/fuzz_input.h"
#include "tests/support/wire_watch.h"

namespace mqbridge::test {
namespace {

constexpr char end_of_chunk = '\xff';
constexpr char escape = '\xfe';

} // namespace

void PlayedStub::send(const rsp::Outgoing& bytes) {
  for (const auto& arrival : reader_.feed(bytes.bytes()))
    if (arrival.kind == Arrival::Kind::packet)
      require(only_looks(arrival.payload) || (may_run_ && lets_run(arrival.payload)));
}

std::string PlayedStub::next_chunk() {
  std::string chunk;
  while (!script_.empty()) {
    const char byte = script_.front();
    script_.remove_prefix(1);
    if (byte == end_of_chunk)
      break;
    if (byte == escape && !script_.empty()) {
      chunk += script_.front();
      script_.remove_prefix(1);
    } else {
      chunk += byte;
    }
  }
  return chunk;
}

rsp::Received PlayedStub::receive(Clock::time_point) {
  using Kind = rsp::Received::Kind;
  piece_.clear();
  for (bool more = true; more;) {
    if (script_.empty())
      break;
    std::string chunk = next_chunk();
    more = chunk.starts_with(',');
    if (more)
      chunk.erase(0, 1);
    switch (chunk.empty() ? '\0' : chunk.front()) {
    case '.':
      piece_.append(chunk, 1);
      break;
    case '~':
      return {Kind::timed_out, {}};
    case '+':
      piece_ += '+' + frame(std::string_view(chunk).substr(1));
      break;
    case '%':
      piece_ += frame(std::string_view(chunk).substr(1)).replace(0, 1, "%");
      break;
    default:
      piece_ += frame(chunk);
    }
  }
  if (!piece_.empty())
    return {Kind::data, piece_};
  return script_.empty() ? rsp::Received{Kind::closed, "the script has ended"}
                         : rsp::Received{Kind::timed_out, {}};
}

} // namespace mqbridge::test
