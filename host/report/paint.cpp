#include "host/report/paint.h"

namespace mqbridge {
namespace {

std::string_view sequence(Style style) {
  switch (style) {
  case Style::plain:
    return {};
  case Style::heading:
    return "\033[1m";
  case Style::good:
    return "\033[32m";
  case Style::warning:
    return "\033[33m";
  case Style::bad:
    return "\033[1;31m";
  case Style::fix:
    return "\033[36m";
  case Style::dim:
    return "\033[2m";
  }
  return {};
}

} // namespace

std::string Paint::operator()(Style style, std::string_view text) const {
  if (!on_ || style == Style::plain || text.empty())
    return std::string(text);
  return std::string(sequence(style)) + std::string(text) + "\033[0m";
}

} // namespace mqbridge
