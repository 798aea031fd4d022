#include "tests/analysis/shrink.h"

namespace mqbridge::sim {
namespace {

bool drop_statements(Program& program, const std::function<bool(const Program&)>& fails) {
  bool dropped = false;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    for (std::size_t at = program.ranks[rank].size(); at-- > 0;) {
      Program smaller = program;
      auto& statements = smaller.ranks[rank];
      statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(at));
      if (!fails(smaller))
        continue;
      program = std::move(smaller);
      dropped = true;
    }
  return dropped;
}

bool fits(const Program& program) {
  for (int rank = 0; rank < program.size(); ++rank)
    for (const Statement& one : program.of(rank)) {
      const auto parts = words_of(one.verb).parts;
      const int size = static_cast<int>(members(one.comm, rank, program.size()).size());
      const bool peer_fits = !(parts.find('p') != std::string_view::npos) || one.peer < size;
      if (parts.starts_with('c') && (!peer_fits || one.source >= size))
        return false;
    }
  return true;
}

bool drop_last_rank(Program& program, const std::function<bool(const Program&)>& fails) {
  if (program.size() <= 2)
    return false;
  Program smaller = program;
  smaller.ranks.pop_back();
  if (!fits(smaller) || !fails(smaller))
    return false;
  program = std::move(smaller);
  return true;
}

} // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
  while (drop_statements(program, fails) || drop_last_rank(program, fails)) {
  }
  return program;
}

} // namespace mqbridge::sim
