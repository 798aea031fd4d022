#include "host/stacks/unwinder/function_name.h"

#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <optional>

namespace mqbridge::unwinder {
namespace {

constexpr std::string_view operator_word = "operator";

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return name && status == 0 ? name.get() : symbol;
}

bool is_in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

/// The place behind the signs of an operator whose word stands at `at`: "operator<<", "operator()".
/// Operators that are words are left to the caller. nullopt: no such word is there.
std::optional<std::size_t> behind_operator(std::string_view text, std::size_t at) {
  if (text.substr(at, operator_word.size()) != operator_word ||
      (at > 0 && is_in_word(text[at - 1])))
    return std::nullopt;
  auto end = at + operator_word.size();
  if (end == text.size() || is_in_word(text[end]))
    return std::nullopt;
  if (text.substr(end, 2) == "()")
    return end + 2;
  constexpr std::string_view signs = "+-*/%^&|~!=<>,[]";
  while (end < text.size() && signs.find(text[end]) != std::string_view::npos &&
         (text[end] != '<' || text.substr(at, end - at) == operator_word ||
          text[end - 1] == '<')) // another '<' begins template arguments
    ++end;
  const bool has_arguments = end > at + operator_word.size() && text.substr(end, 2) == " <";
  return has_arguments ? end + 1 : end;
}

/// The beginning of the name: behind the last space outside of all brackets. Spaces of an
/// operator's own name do not count ("operator new[]", "operator unsigned int").
std::size_t name_begins(std::string_view text) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const auto end = behind_operator(text, i)) {
      if (*end == i + operator_word.size() && depth == 0)
        return begin; // the operator is a word: the rest belongs to it
      i = *end - 1;
      continue;
    }
    const char c = text[i];
    if (c == '<' || c == '(' || c == '{' || c == '[')
      ++depth;
    else if (c == '>' || c == ')' || c == '}' || c == ']')
      --depth;
    else if (c == ' ' && depth == 0)
      begin = i + 1;
  }
  return begin;
}

/// The name of a module's procedure, from gfortran's symbol for it.
std::optional<std::string> of_fortran_module(std::string_view symbol) {
  constexpr std::string_view infix = "_MOD_";
  const auto at = symbol.find(infix);
  if (!symbol.starts_with("__") || at == std::string_view::npos || at < 3)
    return std::nullopt;
  return std::string(symbol.substr(2, at - 2)) +
         "::" + std::string(symbol.substr(at + infix.size()));
}

} // namespace

std::string_view without_parameters(std::string_view demangled) {
  auto text = demangled;
  if (const auto clone = text.find(" [clone"); clone != std::string_view::npos)
    text = text.substr(0, clone);
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view qualifier : {" const", " volatile", " &&", " &", " noexcept"})
      if (text.ends_with(qualifier)) {
        text.remove_suffix(qualifier.size());
        more = true;
      }
  }
  if (!text.ends_with(')'))
    return demangled;
  int depth = 0;
  auto opening = text.size();
  do {
    --opening;
    depth += text[opening] == ')' ? 1 : text[opening] == '(' ? -1 : 0;
  } while (opening > 0 && depth > 0);
  const auto called = text.substr(0, opening);
  if (called.empty() || called.ends_with(' ') || called.find("thunk to ") != std::string_view::npos)
    return demangled;
  return called.substr(name_begins(called));
}

std::string function_name(std::string_view symbol) {
  if (const auto version = symbol.find('@', 1); version != std::string_view::npos)
    symbol = symbol.substr(0, version);
  if (symbol.starts_with("_Z"))
    return std::string(without_parameters(demangled(std::string(symbol))));
  return of_fortran_module(symbol).value_or(std::string(symbol));
}

} // namespace mqbridge::unwinder
