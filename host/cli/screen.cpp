#include "host/cli/screen.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mqbridge {

bool wants_color(When when, const Output& output) {
  if (when != When::automatic)
    return when == When::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_color && *no_color != '\0';
  return output.is_terminal() && !refused && terminal && std::string_view(terminal) != "dumb";
}

std::size_t text_width(const Output& output) {
  constexpr std::size_t usual = 100;
  constexpr std::size_t least = 60; // below that tables make no sense
  winsize size{};
  if (!output.is_terminal() || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return usual;
  return std::max<std::size_t>(size.ws_col, least);
}

} // namespace mqbridge
