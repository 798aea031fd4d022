#include "host/job/quoted_words.h"

#include <algorithm>

namespace mqbridge {
namespace {

constexpr std::string_view blanks = " \t";

bool is_blank(char c) {
  return blanks.find(c) != std::string_view::npos;
}

/// Reads words from a line, front to back.
class Splitter {
public:
  explicit Splitter(std::string_view line) : line_(line) {}

  tl::expected<std::vector<QuotedWord>, LineFault> split() {
    std::vector<QuotedWord> words;
    while (true) {
      at_ = std::min(line_.find_first_not_of(blanks, at_), line_.size());
      if (at_ == line_.size() || line_[at_] == '#')
        return words;
      QuotedWord word{{}, column_at(line_, at_)};
      if (auto read = read_word(word.text); !read)
        return tl::unexpected(std::move(read).error());
      words.push_back(std::move(word));
    }
  }

private:
  tl::expected<void, LineFault> read_word(std::string& word) {
    while (at_ < line_.size() && !is_blank(line_[at_])) {
      if (line_[at_] != '"')
        word += line_[at_++];
      else if (auto read = read_quoted(word); !read)
        return read;
    }
    return {};
  }

  /// Reads from the opening quote to behind the closing one.
  tl::expected<void, LineFault> read_quoted(std::string& word) {
    const auto opening = at_++;
    for (; at_ < line_.size() && line_[at_] != '"'; ++at_) {
      if (line_[at_] == '\\') {
        ++at_;
        if (at_ == line_.size() || (line_[at_] != '"' && line_[at_] != '\\'))
          return fault(at_ - 1, "in quotes a backslash stands before \" or another backslash only",
                       "write \\\\ for a backslash");
      }
      word += line_[at_];
    }
    if (at_ == line_.size())
      return fault(opening, "the quote that begins here has no end",
                   "write the closing \" in the same line, or \"\\\"\" for a quote itself");
    ++at_;
    return {};
  }

  tl::unexpected<LineFault> fault(std::size_t offset, std::string what, std::string mend) const {
    return tl::unexpected(LineFault{column_at(line_, offset), std::move(what), std::move(mend)});
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

} // namespace

tl::expected<std::vector<QuotedWord>, LineFault> split_target_line(std::string_view line) {
  return Splitter(line).split();
}

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

std::string quote_in_line(std::string_view text) {
  const bool plain =
      !text.empty() && text.front() != '#' && text.find_first_of(" \t\"") == std::string_view::npos;
  if (plain)
    return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::size_t column_at(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  return 1 + static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](char c) {
           return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; // no further byte of UTF-8
         }));
}

} // namespace mqbridge
