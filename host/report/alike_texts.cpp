#include "host/report/alike_texts.h"

#include "host/disk/file_name.h"
#include "host/report/fitted_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace mqbridge {
namespace {

constexpr std::size_t most_names = 3;
constexpr std::size_t widest_alike = 30;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
}

/// "0x7f1c4b001010"; a shorter number is a value.
bool is_address(std::string_view word) {
  return word.starts_with("0x") && word.size() > 6 && is_hex(word.substr(2));
}

bool is_build_id(std::string_view word) {
  return word.size() >= 16 && is_hex(word);
}

/// "n17:7001@41822", "ssh:n17:41822"
bool is_endpoint(std::string_view word) {
  return word.find(':') != std::string_view::npos && std::ranges::any_of(word, is_digit);
}

/// Whether a number behind this word names something, and does not count anything.
bool comes_before_number(std::string_view word) {
  constexpr std::array<std::string_view, 5> words = {"rank", "thread", "process", "pid", "job"};
  return std::ranges::find(words, word) != words.end();
}

bool is_name(std::string_view word, std::string_view before) {
  return word.find('/') != std::string_view::npos || is_endpoint(word) || is_address(word) ||
         is_build_id(word) ||
         (!word.empty() && std::ranges::all_of(word, is_digit) && comes_before_number(before));
}

/// Calls `take(text, is_name)` with each name, and with each text between two names.
template <class Take>
void split_names(std::string_view text, const Take& take) {
  constexpr std::string_view blanks = " \n";
  constexpr std::string_view opening = "([{<'\"";
  constexpr std::string_view closing = ")]}>'\".,;:!?";
  std::string_view before;
  std::size_t taken = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(blanks, at);
    if (begin == std::string_view::npos)
      break;
    at = std::min(text.find_first_of(blanks, begin), text.size());
    std::string_view word = text.substr(begin, at - begin);
    word.remove_prefix(std::min(word.find_first_not_of(opening), word.size()));
    word = word.substr(0, word.find_last_not_of(closing) + 1); // npos + 1 is 0
    if (is_name(word, before)) {
      const auto place = static_cast<std::size_t>(word.data() - text.data());
      take(text.substr(taken, place - taken), false);
      take(word, true);
      taken = place + word.size();
    }
    before = word;
  }
  take(text.substr(taken), false);
}

/// The names at one place of all texts, each once.
using AlikeNames = std::vector<std::string_view>;

/// The names at the place where most of them differ.
AlikeNames most_telling_names(const std::vector<std::string_view>& texts) {
  struct Place {
    AlikeNames names;
    std::set<std::string_view> known;
  };
  std::vector<Place> places;
  for (const std::string_view text : texts) {
    std::size_t at = 0;
    split_names(text, [&](std::string_view word, bool is_name) {
      if (!is_name)
        return;
      if (at == places.size())
        places.emplace_back();
      Place& place = places[at++];
      if (place.known.insert(word).second)
        place.names.push_back(word);
    });
  }
  const auto most =
      std::ranges::max_element(places, {}, [](const Place& p) { return p.names.size(); });
  return most == places.end() ? AlikeNames() : std::move(most->names);
}

/// Without their directories, unless two of them would be the same then.
void shorten_paths(AlikeNames& names) {
  AlikeNames last;
  std::ranges::transform(names, std::back_inserter(last),
                         [](auto name) { return file_name(name); });
  const std::set<std::string_view> distinct(last.begin(), last.end());
  if (distinct.size() == names.size() && !distinct.contains(""))
    names = std::move(last);
}

} // namespace

std::string frame_of(std::string_view text) {
  std::string frame;
  split_names(text, [&](std::string_view part, bool is_name) {
    if (is_name)
      frame += '\0';
    else
      frame += part;
  });
  return frame;
}

std::string alike_line(const std::vector<std::string_view>& texts) {
  std::string line = fmt::format("{} alike", texts.size());
  AlikeNames names = most_telling_names(texts);
  if (names.size() < 2)
    return line;
  shorten_paths(names);
  for (std::size_t i = 0; i < std::min(names.size(), most_names); ++i)
    line += (i == 0 ? ": " : ", ") + shortened(printable(names[i]), widest_alike);
  if (names.size() > most_names)
    line += fmt::format(" and {} more", names.size() - most_names);
  return line;
}

} // namespace mqbridge
