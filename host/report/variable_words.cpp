#include "host/report/variable_words.h"

#include "host/dump/values/variable_text.h"
#include "host/report/fitted_text.h"
#include "host/report/units.h"

#include <fmt/format.h>
#include <type_traits>

namespace mqbridge {
namespace {

/// "15 x 0, 3"
template <class T>
std::string runs_text(const std::vector<T>& elements) {
  std::string text;
  for (std::size_t i = 0; i < elements.size();) {
    std::size_t end = i + 1;
    while (end < elements.size() && elements[end] == elements[i])
      ++end;
    text += text.empty() ? "" : ", ";
    text +=
        end - i > 1 ? fmt::format("{} x {}", end - i, elements[i]) : fmt::format("{}", elements[i]);
    i = end;
  }
  return text;
}

std::string elements_text(const VariableValue& value) {
  constexpr std::size_t most_elements = 8; ///< one by one
  return std::visit(
      [&](const auto& content) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::string>)
          return content.empty() ? "\"\"" : printable(content);
        else if (content.empty())
          return "no element";
        else
          return content.size() > most_elements ? runs_text(content) : value_text(content);
      },
      value);
}

} // namespace

std::string shown_value(const std::optional<VariableValue>& value, const std::string& name) {
  if (!value)
    return "?";
  return elements_text(*value) + (name.empty() ? "" : fmt::format(" ({})", printable(name)));
}

std::string shown_time(bool earlier, std::optional<double> age_s) {
  if (!earlier)
    return "the stop";
  constexpr double in_ms = 1000;
  return age_s ? duration_text(*age_s * in_ms) + " before the stop" : "some time before the stop";
}

} // namespace mqbridge
