#include "host/dump/values/variable_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace mqbridge {
namespace {

std::string text_of(const std::string& text) {
  return text;
}

template <class T>
std::string text_of(const std::vector<T>& elements) {
  return fmt::format("{}", fmt::join(elements, " "));
}

/// The value as a number; nullopt: it is no single whole number.
std::optional<std::int64_t> number_of(const VariableValue& value) {
  if (const auto* const elements = std::get_if<std::vector<std::int64_t>>(&value);
      elements != nullptr && elements->size() == 1)
    return elements->front();
  if (const auto* const elements = std::get_if<std::vector<std::uint64_t>>(&value);
      elements != nullptr && elements->size() == 1 &&
      std::in_range<std::int64_t>(elements->front()))
    return static_cast<std::int64_t>(elements->front());
  return std::nullopt;
}

} // namespace

std::string value_text(const VariableValue& value) {
  return std::visit([](const auto& content) { return text_of(content); }, value);
}

std::string value_name(const VariableValue& value, const Variable& variable,
                       const ProcessVariables& all) {
  const auto number = number_of(value);
  if (!number || !variable.enumeration || *variable.enumeration >= all.enumerations.size())
    return {};
  const auto& items = all.enumerations[*variable.enumeration].items;
  const auto item = std::ranges::find(items, *number, &VariableEnumItem::value);
  return item == items.end() ? std::string() : item->name;
}

} // namespace mqbridge
