#include "tests/analysis/generator.h"

#include <algorithm>
#include <random>

namespace mqbridge::sim {
namespace {

class Writer {
public:
  Writer(std::mt19937_64& random, int ranks)
      : random_(random), open_(static_cast<std::size_t>(ranks)),
        used_(static_cast<std::size_t>(ranks)) {
    program_.ranks.resize(static_cast<std::size_t>(ranks));
  }

  Program write() {
    const int events = 2 + below(9);
    for (int i = 0; i < events; ++i)
      add_event();
    for (int rank = 0; rank < program_.size(); ++rank)
      wait_for_all(rank);
    return std::move(program_);
  }

private:
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  bool one_in(int count) { return below(count) == 0; }
  char a_comm() { return communicators[static_cast<std::size_t>(one_in(2) ? 0 : below(4))]; }

  std::vector<int>& open(int rank) { return open_[static_cast<std::size_t>(rank)]; }

  /// A request of that rank that was never used; none is left: any.
  int new_request(int rank) {
    int& used = used_[static_cast<std::size_t>(rank)];
    const int request = std::min(used++, most_requests - 1);
    open(rank).push_back(request);
    return request;
  }

  bool has_requests(int rank) const {
    return used_[static_cast<std::size_t>(rank)] < most_requests - 2;
  }

  void add(int rank, Statement statement) { program_.of(rank).push_back(std::move(statement)); }

  void add_event() {
    switch (below(10)) {
    case 0:
      add(below(program_.size()), {.verb = Verb::compute});
      break;
    case 1:
      shift();
      break;
    case 2:
    case 3:
      collective();
      break;
    case 4:
      nonblocking_collective();
      break;
    case 5:
      some_wait(below(program_.size()));
      break;
    default:
      message();
    }
  }

  void message() {
    const int to = below(program_.size());
    const char comm = a_comm();
    const auto group = members(comm, to, program_.size());
    const int here = below(static_cast<int>(group.size()));
    const int from = group[static_cast<std::size_t>(here)];
    if (from == to)
      return;
    const auto there = static_cast<int>(std::ranges::find(group, to) - group.begin());
    const int tag = below(3);
    send(from, {.comm = comm, .peer = there, .tag = tag, .large = one_in(3)});
    receive(to, {.comm = comm, .peer = one_in(4) ? any : here, .tag = one_in(5) ? any : tag});
  }

  void send(int rank, Statement statement) {
    const int way = has_requests(rank) ? below(6) : below(3);
    statement.verb = way == 0   ? Verb::ssend
                     : way < 3  ? Verb::send
                     : way == 3 ? Verb::issend
                     : way == 4 ? Verb::isend
                                : Verb::send_init;
    begin(rank, std::move(statement), way >= 3);
  }

  void receive(int rank, Statement statement) {
    const int way = has_requests(rank) ? below(6) : below(3);
    if (way == 0) {
      statement.verb = Verb::probe;
      add(rank, statement);
    }
    statement.verb = way < 3 ? Verb::recv : way < 5 ? Verb::irecv : Verb::recv_init;
    begin(rank, std::move(statement), way >= 3);
  }

  void begin(int rank, Statement statement, bool with_request) {
    if (with_request)
      statement.requests = {new_request(rank)};
    const bool persistent = statement.verb == Verb::send_init || statement.verb == Verb::recv_init;
    add(rank, statement);
    if (persistent)
      add(rank, {.verb = Verb::start, .requests = statement.requests});
  }

  // Everybody of a group sends to its right.
  void shift() {
    const char comm = a_comm();
    const auto group = members(comm, below(program_.size()), program_.size());
    const int size = static_cast<int>(group.size());
    const int tag = below(3);
    const bool large = one_in(2);
    for (int i = 0; i < size; ++i)
      add(group[static_cast<std::size_t>(i)], {.verb = Verb::sendrecv,
                                               .comm = comm,
                                               .peer = (i + 1) % size,
                                               .tag = tag,
                                               .large = large,
                                               .source = (i + size - 1) % size,
                                               .source_tag = tag});
  }

  void collective() {
    constexpr std::array verbs = {Verb::barrier, Verb::bcast, Verb::reduce, Verb::allreduce,
                                  Verb::gather};
    const char comm = a_comm();
    const auto group = members(comm, below(program_.size()), program_.size());
    const Statement statement{.verb = verbs[static_cast<std::size_t>(below(verbs.size()))],
                              .comm = comm,
                              .peer = below(static_cast<int>(group.size())),
                              .large = one_in(3)};
    for (const int rank : group)
      add(rank, statement);
  }

  void nonblocking_collective() {
    const char comm = a_comm();
    const auto group = members(comm, below(program_.size()), program_.size());
    Statement statement{.verb = one_in(2) ? Verb::ibarrier : Verb::ibcast,
                        .comm = comm,
                        .peer = below(static_cast<int>(group.size()))};
    for (const int rank : group) {
      if (!has_requests(rank))
        return;
    }
    for (const int rank : group) {
      statement.requests = {new_request(rank)};
      add(rank, statement);
    }
  }

  void some_wait(int rank) {
    auto& requests = open(rank);
    if (requests.empty())
      return;
    switch (below(4)) {
    case 0: {
      const auto one = requests.begin() + below(static_cast<int>(requests.size()));
      add(rank, {.verb = Verb::wait, .requests = {*one}});
      requests.erase(one);
      break;
    }
    case 1:
      add(rank, {.verb = Verb::waitany, .requests = requests});
      break;
    case 2:
      add(rank, {.verb = Verb::waitsome, .requests = requests});
      break;
    default:
      wait_for_all(rank);
    }
  }

  void wait_for_all(int rank) {
    auto& requests = open(rank);
    if (requests.empty())
      return;
    add(rank, {.verb = requests.size() == 1 && one_in(2) ? Verb::wait : Verb::waitall,
               .requests = requests});
    requests.clear();
  }

  std::mt19937_64& random_;
  Program program_;
  std::vector<std::vector<int>> open_; ///< of each rank: not waited for
  std::vector<int> used_;
};

class Spoiler {
public:
  Spoiler(Program& program, std::mt19937_64& random) : program_(program), random_(random) {}

  void spoil() {
    const int rank = below(program_.size());
    auto& statements = program_.of(rank);
    if (statements.empty())
      return;
    const auto at = static_cast<std::size_t>(below(static_cast<int>(statements.size())));
    switch (below(12)) {
    case 0:
    case 1:
      std::swap(statements[at],
                statements[static_cast<std::size_t>(below(static_cast<int>(statements.size())))]);
      break;
    case 2:
    case 3:
      statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 4:
      statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(at),
                        {.verb = below(3) == 0 ? Verb::exit : Verb::forever});
      break;
    default:
      change(rank, statements[at]);
    }
  }

private:
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  void change(int rank, Statement& one) {
    const auto parts = words_of(one.verb).parts;
    if (!parts.starts_with('c'))
      return;
    switch (below(4)) {
    case 0:
      if (one.tag != any)
        one.tag = (one.tag + 1) % 3;
      break;
    case 1:
      one.comm = communicators[static_cast<std::size_t>(below(4))];
      break;
    case 2:
      if (one.peer != any)
        ++one.peer;
      break;
    default:
      if (one.verb == Verb::send && below(2) == 0)
        one.verb = Verb::ssend;
      else
        one.large = true;
    }
    const int size = static_cast<int>(members(one.comm, rank, program_.size()).size());
    one.peer = one.peer == any ? any : one.peer % size;
    one.source = one.source == any ? any : one.source % size;
  }

  Program& program_;
  std::mt19937_64& random_;
};

} // namespace

Program random_program(std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15ULL + 1);
  const int ranks = 2 + static_cast<int>(random() % 7);
  Program program = Writer(random, ranks).write();
  constexpr unsigned most_places = 3;
  const auto places = random() % 5;
  for (std::size_t i = 0; i < std::min<std::size_t>(places, most_places); ++i)
    Spoiler(program, random).spoil();
  return parse_program(to_text(program)); // nothing but what its text says
}

} // namespace mqbridge::sim
