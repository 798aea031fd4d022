#include "rsp/transport/serial_line.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <cerrno>
#include <sys/ioctl.h>

namespace mqbridge::rsp {

struct SerialSettings::Kernel {
  termios2 values{};
};

SerialSettings::SerialSettings(const Kernel& kernel)
    : kernel_(std::make_shared<const Kernel>(kernel)) {}

std::optional<SerialSettings> SerialSettings::of(int fd) {
  Kernel kernel;
  if (::ioctl(fd, TCGETS2, &kernel.values) != 0)
    return std::nullopt;
  return SerialSettings(kernel);
}

int SerialSettings::apply(int fd) const {
  return ::ioctl(fd, TCSETSW2, &kernel_->values) == 0 ? 0 : errno;
}

SerialSettings SerialSettings::for_stub(std::uint32_t baud) const {
  Kernel kernel = *kernel_;
  termios2& values = kernel.values;
  values.c_iflag = 0;
  values.c_oflag = 0;
  values.c_lflag = 0;
  // With a CIBAUD of 0 both directions have the same speed. BOTHER takes the speed from c_ospeed,
  // whether it is a standard one or not.
  values.c_cflag &=
      static_cast<tcflag_t>(~(CSIZE | PARENB | CSTOPB | CRTSCTS | HUPCL | CBAUD | CIBAUD));
  values.c_cflag |= CS8 | CREAD | CLOCAL | BOTHER;
  values.c_ospeed = values.c_ispeed = baud;
  values.c_cc[VMIN] = 1; // an empty line is not its end
  values.c_cc[VTIME] = 0;
  return SerialSettings(kernel);
}

std::uint32_t SerialSettings::baud() const {
  return kernel_->values.c_ospeed;
}

} // namespace mqbridge::rsp
