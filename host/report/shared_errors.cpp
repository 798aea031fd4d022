#include "host/report/shared_errors.h"

#include "host/report/fitted_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
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

using OwnWords = std::map<std::string, std::string, std::less<>>;

/// The words that name this rank's process and no other's. The place of each in the endpoint stands
/// for it: "ssh" and "gdbserver" of one command are not the same.
OwnWords own_words(const RankDump& rank) {
  OwnWords own;
  std::size_t place = 0;
  split_words(rank.endpoint, [&](std::string_view word, bool is_word) {
    if (is_word)
      own.try_emplace(std::string(word), fmt::to_string(place++));
  });
  if (rank.pid)
    own.try_emplace(fmt::to_string(*rank.pid), "pid");
  return own;
}

std::string words_of(const RankError& error, const OwnWords& own) {
  std::string words;
  split_words(error.message + '\n' + error.hint, [&](std::string_view word, bool is_word) {
    const auto known = is_word ? own.find(word) : own.end();
    if (known != own.end())
      words += '\0' + known->second + '\0';
    else
      words += word;
  });
  return words;
}

/// Of all its errors: each rank may list its libraries in another order.
std::set<std::string> words_of(const Cause& cause, const OwnWords& own = {}) {
  std::set<std::string> all;
  for (const auto* errors : {&cause.alike, &cause.others})
    for (const RankError* error : *errors)
      all.insert(words_of(*error, own));
  return all;
}

std::string likeness(const RankDump& rank, const Cause& cause) {
  std::string key = fmt::format("{}\t{}\t{}\t{}\n", rank.job_id.value_or(""), rank.rank.has_value(),
                                static_cast<int>(cause.shown().level), cause.shown().code);
  for (const std::string& words : words_of(cause, own_words(rank)))
    key += words + '\0';
  return key;
}

} // namespace

SharedErrors::SharedErrors(const Dump& dump) {
  for (const RankDump& rank : dump.ranks)
    for (Cause& cause : causes_of(rank.errors)) {
      Shared& shared = all_[likeness(rank, cause)];
      if (shared.group.ranks.empty())
        shared.example = std::move(cause);
      else if (shared.group.ranks.back() == &rank)
        continue; // the same rank says it twice
      else
        shared.same_words = shared.same_words && words_of(shared.example) == words_of(cause);
      shared.group.ranks.push_back(&rank);
      if (shared.group.ranks.size() == 2)
        in_order_.push_back(&shared);
    }
}

std::vector<Cause> SharedErrors::own(const RankDump& rank) const {
  auto causes = causes_of(rank.errors);
  std::erase_if(causes, [&](const Cause& cause) {
    const auto found = all_.find(likeness(rank, cause));
    return found != all_.end() && found->second.group.ranks.size() > 1;
  });
  return causes;
}

void SharedErrors::write(const TextContext& context) const {
  for (const Shared* shared : in_order_) {
    const RankDump& first = shared->group.example();
    const RankError& error = shared->example.shown();
    const bool warning = error.level == RankError::Level::warning;
    const Style style = warning ? Style::warning : Style::bad;
    context.line();
    write_flow(context, {{group_name(context, shared->group), Style::heading},
                         {group_place(context, shared->group)},
                         {(warning ? "  warning " : "  ") + printable(error.code), style}});
    if (!first.rank)
      write_targets(context, shared->group);
    write_message(context, Style::plain, message_of(shared->example), error.hint);
    if (!shared->same_words)
      write_message(context, Style::dim,
                    fmt::format("(of {}; the others each name their own endpoint and process)",
                                first.rank ? "rank " + rank_number(first) : first.endpoint),
                    "");
  }
}

} // namespace mqbridge
