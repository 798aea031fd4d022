#include "host/launch/node_names.h"

#include "rsp/packet/printable.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <tuple>
#include <vector>

namespace mqbridge {
namespace {

/// A name around its number: "r1n" 17 ".site".
struct Name {
  std::string before;
  std::string behind;
  std::size_t digits = 0; ///< 0: it has no number
  std::uint64_t number = 0;

  auto order() const { return std::tie(before, behind, digits, number); }
  bool operator<(const Name& other) const { return order() < other.order(); }
  bool operator==(const Name& other) const { return order() == other.order(); }

  bool is_alike(const Name& other) const {
    return digits > 0 && other.digits > 0 && before == other.before && behind == other.behind;
  }
  /// True of "9" and "10", and of "099" and "100"; not of "9" and "010".
  bool precedes(const Name& next) const {
    const bool one_more_digit = next.digits == digits + 1 && next.text().front() != '0';
    return is_alike(next) && next.number == number + 1 && (next.digits == digits || one_more_digit);
  }
  std::string text() const { return digits == 0 ? "" : fmt::format("{:0{}}", number, digits); }
};

/// Splits a name at its number: the last one of its first label ("r1n17.site" at 17), or the last
/// one of an address.
Name take_apart(const std::string& name) {
  constexpr std::string_view digits = "0123456789";
  constexpr std::size_t most_digits = 18;
  const bool is_address = name.find_first_not_of("0123456789.") == std::string::npos;
  const auto label = is_address ? name.size() : std::min(name.find('.'), name.size());
  const auto last = label == 0 ? std::string::npos : name.find_last_of(digits, label - 1);
  if (last == std::string::npos)
    return {name, "", 0, 0};
  const auto before = name.find_last_not_of(digits, last);
  const auto first = before == std::string::npos ? 0 : before + 1;
  if (last + 1 - first > most_digits)
    return {name, "", 0, 0};
  Name parts{name.substr(0, first), name.substr(last + 1), last + 1 - first, 0};
  std::from_chars(name.data() + first, name.data() + last + 1, parts.number);
  return parts;
}

/// Names that are alike but for the number, as one piece: "n[1-3,7].site".
class Piece {
public:
  explicit Piece(const Name& name) : like_(name) {}

  bool takes(const Name& name) const { return like_.is_alike(name); }
  void add(const Name& first, const Name& last) {
    numbers_ += (numbers_.empty() ? "" : ",") + first.text();
    if (!(first == last))
      numbers_ += "-" + last.text();
    is_list_ = is_list_ || runs_ > 0 || !(first == last);
    ++runs_;
  }
  std::string text() const {
    const auto numbers = is_list_ ? "[" + numbers_ + "]" : numbers_;
    return printable(like_.before) + numbers + printable(like_.behind);
  }

private:
  Name like_;
  std::string numbers_;
  std::size_t runs_ = 0;
  bool is_list_ = false;
};

std::vector<Name> sorted(std::span<const std::string> names) {
  std::vector<Name> parts;
  for (const std::string& name : names)
    parts.push_back(take_apart(name.empty() ? "this host" : name));
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

} // namespace

std::string node_list_text(std::span<const std::string> names, std::size_t most_runs) {
  const auto all = sorted(names);
  std::vector<Piece> pieces;
  std::size_t at = 0;
  for (std::size_t runs = 0; at < all.size() && runs < most_runs; ++runs) {
    std::size_t last = at;
    while (last + 1 < all.size() && all[last].precedes(all[last + 1]))
      ++last;
    if (pieces.empty() || !pieces.back().takes(all[at]))
      pieces.emplace_back(all[at]);
    pieces.back().add(all[at], all[last]);
    at = last + 1;
  }
  std::string text;
  for (const Piece& piece : pieces)
    text += (text.empty() ? "" : ",") + piece.text();
  return at == all.size() ? text : fmt::format("{} and {} more", text, all.size() - at);
}

} // namespace mqbridge
