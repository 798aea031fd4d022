#pragma once

#include "host/document/words.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

template <class E>
concept Worded = requires {
  document_words<E>.size();
};

/// Whether E has an enumerator with this value: otherwise compilers print the value as a cast:
/// "(E)3".
template <auto value>
constexpr bool is_enumerator() {
  constexpr std::string_view function = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "value = ";
  return function[function.find(before) + before.size()] != '(';
}

/// Whether each enumerator of E has a word, at its place, and no two have the same.
template <Worded E>
constexpr bool words_are_complete() {
  constexpr auto& words = document_words<E>;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (static_cast<std::size_t>(words[i].value) != i)
      return false;
    for (std::size_t other = 0; other < i; ++other)
      if (words[other].text == words[i].text)
        return false;
  }
  return is_enumerator<words.back().value>() && !is_enumerator<static_cast<E>(words.size())>();
}

/// Empty if the document has null.
template <Worded E>
constexpr std::string_view name_of(E value) {
  static_assert(words_are_complete<E>(), "words.h");
  const auto place = static_cast<std::size_t>(value);
  return place < document_words<E>.size() ? document_words<E>[place].text : std::string_view();
}

/// The value of E that has this name; nullopt: none has.
template <Worded E>
constexpr std::optional<E> value_named(std::string_view name) {
  static_assert(words_are_complete<E>(), "words.h");
  for (const auto& word : document_words<E>)
    if (word.text == name && !name.empty())
      return word.value;
  return std::nullopt;
}

/// The words of E, without that for null.
template <Worded E>
std::vector<std::string> all_words() {
  std::vector<std::string> words;
  for (const auto& word : document_words<E>)
    if (!word.text.empty())
      words.emplace_back(word.text);
  return words;
}

} // namespace mqbridge
