#include "tests/analysis/program.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <sstream>
#include <stdexcept>

namespace mqbridge::sim {
namespace {

constexpr std::array table = {
    Words{Verb::compute, "compute", "", ""},
    Words{Verb::forever, "forever", "", ""},
    Words{Verb::exit, "exit", "", ""},
    Words{Verb::send, "send", "cpts", "MPI_Send"},
    Words{Verb::ssend, "ssend", "cpts", "MPI_Ssend"},
    Words{Verb::recv, "recv", "cpt", "MPI_Recv"},
    Words{Verb::probe, "probe", "cpt", "MPI_Probe"},
    Words{Verb::sendrecv, "sendrecv", "cptsPT", "MPI_Sendrecv"},
    Words{Verb::isend, "isend", "cptsr", "MPI_Isend"},
    Words{Verb::issend, "issend", "cptsr", "MPI_Issend"},
    Words{Verb::irecv, "irecv", "cptr", "MPI_Irecv"},
    Words{Verb::send_init, "send_init", "cptsr", "MPI_Send_init"},
    Words{Verb::recv_init, "recv_init", "cptr", "MPI_Recv_init"},
    Words{Verb::start, "start", "r", "MPI_Start"},
    Words{Verb::wait, "wait", "r", "MPI_Wait"},
    Words{Verb::waitall, "waitall", "R", "MPI_Waitall"},
    Words{Verb::waitany, "waitany", "R", "MPI_Waitany"},
    Words{Verb::waitsome, "waitsome", "R", "MPI_Waitsome"},
    Words{Verb::barrier, "barrier", "c", "MPI_Barrier"},
    Words{Verb::bcast, "bcast", "cps", "MPI_Bcast"},
    Words{Verb::reduce, "reduce", "cp", "MPI_Reduce"},
    Words{Verb::allreduce, "allreduce", "c", "MPI_Allreduce"},
    Words{Verb::gather, "gather", "cp", "MPI_Gather"},
    Words{Verb::ibarrier, "ibarrier", "cr", "MPI_Ibarrier"},
    Words{Verb::ibcast, "ibcast", "cpr", "MPI_Ibcast"},
};

std::string number_text(int value) {
  return value == any ? "*" : std::to_string(value);
}

[[noreturn]] void refuse(std::string_view what) {
  throw std::invalid_argument(fmt::format("no program: '{}'", what));
}

int parse_number(std::string_view word) {
  if (word == "*")
    return any;
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0)
    refuse(word);
  return value;
}

int parse_request(std::string_view word) {
  if (!word.starts_with('r'))
    refuse(word);
  const int request = parse_number(word.substr(1));
  if (request < 0 || request >= most_requests)
    refuse(word);
  return request;
}

void take_word(Statement& statement, char part, const std::string& word) {
  switch (part) {
  case 'c':
    if (word.size() != 1 || communicators.find(word[0]) == std::string_view::npos)
      refuse(word);
    statement.comm = word[0];
    break;
  case 'p':
    statement.peer = parse_number(word);
    break;
  case 't':
    statement.tag = parse_number(word);
    break;
  case 's':
    if (word != "small" && word != "large")
      refuse(word);
    statement.large = word == "large";
    break;
  case 'P':
    statement.source = parse_number(word);
    break;
  case 'T':
    statement.source_tag = parse_number(word);
    break;
  default:
    statement.requests.push_back(parse_request(word));
  }
}

Statement parse_statement(const std::string& text) {
  std::istringstream in(text);
  std::string word;
  in >> word;
  const auto* found = std::ranges::find(table, word, &Words::name);
  if (found == table.end())
    refuse(text);
  Statement statement{.verb = found->verb};
  for (const char part : found->parts) {
    if (!(in >> word))
      refuse(text);
    take_word(statement, part, word);
  }
  while (in >> word) {
    if (!found->parts.ends_with('R'))
      refuse(text);
    statement.requests.push_back(parse_request(word));
  }
  return statement;
}

std::string part_text(const Statement& statement, char part) {
  switch (part) {
  case 'c':
    return {statement.comm};
  case 'p':
    return number_text(statement.peer);
  case 't':
    return number_text(statement.tag);
  case 's':
    return statement.large ? "large" : "small";
  case 'P':
    return number_text(statement.source);
  case 'T':
    return number_text(statement.source_tag);
  default:
    break;
  }
  std::string text;
  for (const int request : statement.requests)
    text += fmt::format("{}r{}", text.empty() ? "" : " ", request);
  return text;
}

} // namespace

const Words& words_of(Verb verb) {
  return table[static_cast<std::size_t>(verb)];
}

std::string to_text(const Statement& statement) {
  const Words& words = words_of(statement.verb);
  std::string text(words.name);
  for (const char part : words.parts)
    text += " " + part_text(statement, part);
  return text;
}

std::string to_text(const Program& program) {
  std::string text = fmt::format("ranks {}\n", program.size());
  for (int rank = 0; rank < program.size(); ++rank) {
    text += fmt::format("{}:", rank);
    for (std::size_t i = 0; i < program.of(rank).size(); ++i)
      text += fmt::format("{} {}", i == 0 ? "" : ";", to_text(program.of(rank)[i]));
    text += "\n";
  }
  return text;
}

Program parse_program(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::string word;
  std::size_t ranks = 0;
  if (!(in >> word >> ranks) || word != "ranks" || ranks == 0)
    refuse(text);
  Program program;
  program.ranks.resize(ranks);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos)
      refuse(line);
    const int rank = parse_number(line.substr(0, colon));
    if (rank < 0 || rank >= program.size())
      refuse(line);
    std::istringstream statements(line.substr(colon + 1));
    for (std::string one; std::getline(statements, one, ';');)
      if (one.find_first_not_of(' ') != std::string::npos)
        program.of(rank).push_back(parse_statement(one));
  }
  return program;
}

std::vector<int> members(char comm, int rank, int ranks) {
  std::vector<int> all;
  for (int other = 0; other < ranks; ++other) {
    const bool with_us = comm == 'E'   ? other % 2 == rank % 2
                         : comm == 'H' ? (other < ranks / 2) == (rank < ranks / 2)
                                       : true;
    if (with_us)
      all.push_back(other);
  }
  if (comm == 'E')
    std::ranges::reverse(all);
  return all;
}

} // namespace mqbridge::sim
