#include "host/types/layout_memo.h"

#include <cstdint>
#include <cstring>
#include <string_view>

namespace mqbridge {
namespace {

class Writer {
public:
  void number(std::uint64_t value) {
    const auto at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void text(std::string_view text) {
    number(text.size());
    for (const char c : text)
      bytes_.push_back(static_cast<std::byte>(c));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

private:
  std::vector<std::byte> bytes_;
};

/// Once a value is missing, all further ones are 0 or empty.
class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto bytes = take(sizeof value);
    if (!bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto bytes = take(number());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  bool failed() const { return failed_; }
  bool complete() const { return !failed_ && rest_.empty(); }

private:
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const auto bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

} // namespace

std::vector<std::byte> to_bytes(const LayoutMemo& memo) {
  Writer out;
  out.number(memo.size());
  for (const auto& [name, layout] : memo) {
    out.text(name);
    out.number(layout ? 1 : 0);
    if (!layout)
      continue;
    out.number(layout->size);
    out.number(layout->fields.size());
    for (const auto& field : layout->fields) {
      out.text(field.name);
      out.number(field.offset);
      out.number(field.size);
    }
  }
  return out.take();
}

std::optional<LayoutMemo> layout_memo(std::span<const std::byte> bytes) {
  Reader in(bytes);
  LayoutMemo memo;
  for (auto types = in.number(); types > 0 && !in.failed(); --types) {
    auto name = in.text();
    std::optional<TypeLayout> layout;
    if (in.number() != 0) {
      layout = TypeLayout{name, in.number(), {}};
      for (auto fields = in.number(); fields > 0 && !in.failed(); --fields) {
        auto field = in.text();
        const auto offset = in.number();
        layout->fields.push_back({std::move(field), offset, in.number()});
      }
    }
    memo.emplace(std::move(name), std::move(layout));
  }
  return in.complete() ? std::optional(std::move(memo)) : std::nullopt;
}

} // namespace mqbridge
