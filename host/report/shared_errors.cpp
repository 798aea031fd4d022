#include "host/report/shared_errors.h"

#include "host/report/fitted_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>

namespace mqbridge {
namespace {

bool is_of_a_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

/// Calls `take(text, is_word)` with each word, such as a host name or a number, and with each text
/// between two words.
template <class Take>
void split_words(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const bool word = is_of_a_word(text.front());
    std::size_t size = 1;
    while (size < text.size() && is_of_a_word(text[size]) == word)
      ++size;
    while (word && size > 1 && text[size - 1] == '.') // the end of a sentence
      --size;
    take(text.substr(0, size), word);
    text.remove_prefix(size);
  }
}

/// The words that name this rank's process and no other's. The place of each in the endpoint stands
/// for it: "ssh" and "gdbserver" of one command are not the same.
std::map<std::string, std::string, std::less<>> own_words(const RankDump& rank) {
  std::map<std::string, std::string, std::less<>> own;
  std::size_t place = 0;
  split_words(rank.endpoint, [&](std::string_view word, bool is_word) {
    if (is_word)
      own.try_emplace(std::string(word), fmt::to_string(place++));
  });
  if (rank.pid)
    own.try_emplace(fmt::to_string(*rank.pid), "pid");
  return own;
}

std::string likeness(const RankDump& rank, const RankError& error) {
  std::string key = fmt::format("{}\t{}\t{}\t{}\n", rank.job_id.value_or(""), rank.rank.has_value(),
                                static_cast<int>(error.level), error.code);
  const auto own = own_words(rank);
  split_words(error.message + '\n' + error.hint, [&](std::string_view word, bool is_word) {
    const auto known = is_word ? own.find(word) : own.end();
    if (known != own.end())
      key += '\0' + known->second + '\0';
    else
      key += word;
  });
  return key;
}

} // namespace

SharedErrors::SharedErrors(const Dump& dump) {
  for (const RankDump& rank : dump.ranks)
    for (const RankError& error : rank.errors) {
      Shared& shared = all_[likeness(rank, error)];
      if (!shared.group.ranks.empty() && shared.group.ranks.back() == &rank)
        continue; // the same rank says it twice
      shared.group.ranks.push_back(&rank);
      if (shared.example == nullptr)
        shared.example = &error;
      shared.same_words = shared.same_words && shared.example->message == error.message &&
                          shared.example->hint == error.hint;
      if (shared.group.ranks.size() == 2)
        in_order_.push_back(&shared);
    }
}

bool SharedErrors::contains(const RankDump& rank, const RankError& error) const {
  const auto found = all_.find(likeness(rank, error));
  return found != all_.end() && found->second.group.ranks.size() > 1;
}

void SharedErrors::write(const TextContext& context) const {
  for (const Shared* shared : in_order_) {
    const RankDump& first = shared->group.example();
    const RankError& error = *shared->example;
    const bool warning = error.level == RankError::Level::warning;
    const Style style = warning ? Style::warning : Style::bad;
    context.line();
    write_flow(context, {{group_name(context, shared->group), Style::heading},
                         {group_place(context, shared->group)},
                         {(warning ? "  warning " : "  ") + printable(error.code), style}});
    if (!first.rank)
      write_targets(context, shared->group);
    write_message(context, Style::plain, error.message, error.hint);
    if (!shared->same_words)
      write_message(context, Style::dim,
                    fmt::format("(of {}; the others each name their own endpoint and process)",
                                first.rank ? "rank " + rank_number(first) : first.endpoint),
                    "");
  }
}

} // namespace mqbridge
