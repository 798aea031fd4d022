#include "host/types/pack_parser.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <vector>

namespace mqbridge {
namespace {

bool is_identifier(std::string_view word) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto rest = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !word.empty() && letter(word.front()) && std::all_of(word.begin(), word.end(), rest);
}

bool is_hexadecimal(std::string_view word) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return word.size() % 2 == 0 && !word.empty() && std::all_of(word.begin(), word.end(), digit);
}

std::optional<std::uint64_t> decimal(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  while (true) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos)
      return words;
    line.remove_prefix(start);
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

class PackParser {
public:
  explicit PackParser(std::string_view name) : name_(name) {}

  Result<TypePack> parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const auto end = std::min(text.find('\n'), text.size());
      if (auto done = parse_line(text.substr(0, end)); !done)
        return forward(std::move(done));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (line_ == 0)
      return wrong(fmt::format("empty; expected '{}'", pack_signature));
    if (pack_.mpi.empty() || pack_.architecture.empty())
      return wrong("the file ends without a line 'mpi NAME' and a line 'platform ...'");
    return std::move(pack_);
  }

private:
  Failure wrong(std::string_view what) const {
    return fail("pack.syntax", fmt::format("{}:{}: {}", name_, line_, what),
                "make it again: mqbridge types make -o FILE.types");
  }

  Result<void> parse_line(std::string_view line) {
    if (line_ == 1) {
      if (line != pack_signature)
        return wrong(fmt::format("expected '{}'", pack_signature));
      return {};
    }
    const auto words = words_of(line);
    if (words.empty())
      return {};
    if (words[0] == "type")
      return parse_type(words);
    if (words[0] == "field")
      return parse_field(words);
    if (!pack_.types.empty())
      return wrong("only types and fields may follow the first type");
    if (!headers_.insert(words[0]).second)
      return wrong(fmt::format("a second line '{}'", words[0]));
    if (words[0] == "platform")
      return parse_platform(words);
    return parse_header(words);
  }

  Result<void> parse_header(const std::vector<std::string_view>& words) {
    if (words.size() != 2)
      return wrong(fmt::format("expected '{} VALUE'", words[0]));
    if (words[0] == "mpi") {
      pack_.mpi = words[1];
    } else if (words[0] == "version") {
      pack_.version = words[1];
    } else if (words[0] == "library") {
      pack_.library = words[1];
    } else if (words[0] == "build-id") {
      if (!is_hexadecimal(words[1]))
        return wrong("a build-id is lower-case hexadecimal");
      pack_.build_id = words[1];
    } else {
      return wrong(fmt::format("unknown word '{}'", words[0]));
    }
    return {};
  }

  Result<void> parse_platform(const std::vector<std::string_view>& words) {
    const auto pointer_size = words.size() == 4 ? decimal(words[3]) : std::nullopt;
    if (!pointer_size || (*pointer_size != 4 && *pointer_size != 8) ||
        (words[2] != "little" && words[2] != "big"))
      return wrong("expected 'platform ARCHITECTURE little|big 4|8'");
    pack_.architecture = words[1];
    pack_.byte_order = words[2] == "little" ? ByteOrder::little : ByteOrder::big;
    pack_.pointer_size = static_cast<int>(*pointer_size);
    return {};
  }

  Result<void> parse_type(const std::vector<std::string_view>& words) {
    const auto size = words.size() == 3 ? decimal(words[2]) : std::nullopt;
    if (!size || !is_identifier(words[1]))
      return wrong("expected 'type NAME SIZE'");
    if (!types_.insert(words[1]).second)
      return wrong(fmt::format("type {} stands here a second time", words[1]));
    fields_.clear();
    pack_.types.push_back({std::string(words[1]), *size, {}});
    return {};
  }

  Result<void> parse_field(const std::vector<std::string_view>& words) {
    if (pack_.types.empty())
      return wrong("a field before the first type");
    auto& type = pack_.types.back();
    const auto offset = words.size() == 4 ? decimal(words[2]) : std::nullopt;
    const auto size = words.size() == 4 ? decimal(words[3]) : std::nullopt;
    if (!offset || !size || !is_identifier(words[1]))
      return wrong("expected 'field NAME OFFSET SIZE'");
    if (*offset > type.size || *size > type.size - *offset)
      return wrong(fmt::format("field {} lies outside of {}, which has {} bytes", words[1],
                               type.name, type.size));
    if (!fields_.insert(words[1]).second)
      return wrong(fmt::format("field {} stands here a second time", words[1]));
    type.fields.push_back({std::string(words[1]), *offset, *size});
    return {};
  }

  std::string_view name_;
  std::size_t line_ = 0;
  TypePack pack_;
  std::set<std::string_view> headers_;
  std::set<std::string_view> types_;
  std::set<std::string_view> fields_;
};

} // namespace

Result<TypePack> parse_type_pack(std::string_view text, std::string_view name) {
  return PackParser(name).parse(text);
}

} // namespace mqbridge
