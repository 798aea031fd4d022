#include "tests/support/serial_cable.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <system_error>
#include <termios.h>

namespace mqbridge::test {
namespace {

[[noreturn]] void no_terminal() {
  throw std::system_error(errno, std::generic_category(), "a pseudo-terminal");
}

} // namespace

SerialCable::End::End() : controller(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  std::array<char, 64> name{};
  if (!controller || grantpt(controller.get()) != 0 || unlockpt(controller.get()) != 0 ||
      ptsname_r(controller.get(), name.data(), name.size()) != 0)
    no_terminal();
  device = name.data();
  keeper = rsp::UniqueFd(open(device.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!keeper)
    no_terminal();
}

SerialCable::SerialCable(std::uint32_t baud)
    : to_far_(std::make_unique<BytePump>(near_.controller.get(), far_.controller.get(),
                                         Flow::of_baud(baud))),
      to_near_(std::make_unique<BytePump>(far_.controller.get(), near_.controller.get(),
                                          Flow::of_baud(baud))) {
  // As long as nobody listens there, nothing is to come back: a terminal would echo.
  termios settings{};
  tcgetattr(far_.keeper.get(), &settings);
  cfmakeraw(&settings);
  tcsetattr(far_.keeper.get(), TCSANOW, &settings);
}

void SerialCable::unplug_near() {
  to_far_.reset();
  to_near_.reset();
  near_.controller = rsp::UniqueFd();
}

} // namespace mqbridge::test
