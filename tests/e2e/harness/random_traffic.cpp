#include "tests/e2e/harness/traffic.h"

#include <algorithm>
#include <fmt/format.h>
#include <random>

namespace mqbridge::e2e {
namespace {

constexpr int world = 0;
constexpr int dup = 1;
constexpr int reversed = 2;
constexpr int between = 3;
constexpr long room = 200'000; // of a receive

class Generator {
public:
  Generator(std::uint32_t seed, int ranks) : random_(seed), ranks_(ranks) {}

  TrafficStep step() {
    const int messages = pick(0, 12 * ranks_);
    for (int i = 0; i < messages; ++i)
      message(chance(4) ? "issend" : "isend");
    for (int i = pick(0, 3); i > 0; --i) // of what nobody sends
      lines_.push_back({pick(0, ranks_ - 1), "irecv", pick(dup, reversed), pick(0, ranks_ - 1),
                        100'000 + i, room});
    std::shuffle(lines_.begin(), lines_.end(), random_);
    for (int i = pick(0, 2 * ranks_); ranks_ > 1 && i > 0; --i)
      message("late");
    return std::move(lines_);
  }

private:
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool chance(int one_of) { return pick(1, one_of) == 1; }

  // Messages of up to nearly 4 KiB leave at once over shared memory.
  long size() {
    switch (pick(0, 5)) {
    case 0:
      return 0;
    case 1:
      return pick(1, 64);
    case 2:
      return pick(65, 3500);
    case 3:
      return pick(3501, 4500);
    case 4:
      return pick(4501, 40'000);
    default:
      return pick(40'001, static_cast<int>(room));
    }
  }

  int communicator() {
    if (chance(6))
      return ranks_ == 1 || chance(2) ? world : between;
    return pick(dup, reversed);
  }

  void message(const std::string& verb) {
    const int comm = communicator();
    const int from = pick(0, ranks_ - 1);
    const int to = peer_of(comm, from, verb == "late");
    const int tag = ++tag_;
    lines_.push_back({from, verb, comm, local(comm, to), tag, size()});
    if (verb != "late" && chance(2))
      receive(comm, from, to, tag);
  }

  int peer_of(int comm, int from, bool other) {
    while (true) {
      const int to = pick(0, ranks_ - 1);
      if ((comm != between || to % 2 != from % 2) && (!other || to != from))
        return to;
    }
  }

  int local(int comm, int rank) const {
    if (comm == reversed)
      return ranks_ - 1 - rank;
    return comm == between ? rank / 2 : rank;
  }

  void receive(int comm, int from, int to, int tag) {
    const bool any_source = chance(4);
    const bool any_tag = chance(4);
    lines_.push_back(
        {to, "irecv", comm, any_source ? -1 : local(comm, from), any_tag ? -1 : tag, room});
  }

  std::mt19937 random_;
  int ranks_;
  int tag_ = 0;
  TrafficStep lines_;
};

} // namespace

TrafficStep random_traffic(std::uint32_t seed, int ranks) {
  return Generator(seed, ranks).step();
}

std::string schedule_text(const std::vector<TrafficStep>& steps) {
  std::string text;
  for (const TrafficStep& step : steps) {
    text += "step\n";
    for (const TrafficLine& line : step)
      text += fmt::format("{} {} {} {} {} {}\n", line.rank, line.verb, line.comm, line.peer,
                          line.tag, line.bytes);
  }
  return text;
}

} // namespace mqbridge::e2e
