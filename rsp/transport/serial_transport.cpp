#include "rsp/transport/serial_transport.h"

#include "rsp/codes.h"
#include "rsp/packet/printable.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <system_error>
#include <termios.h>
#include <unistd.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

/// The most unsent bytes that the kernel keeps for a line: a page, less one (UART_XMIT_SIZE).
constexpr std::size_t kernel_buffer = 4095;
/// A start bit, eight bits of data, and a stop bit.
constexpr std::uint32_t bits_per_byte = 10;
/// If the speed differs from the wanted one by more than this, characters are misread.
constexpr double tolerance = 0.03;

std::string hint_for(int error, const std::string& device) {
  switch (error) {
  case EACCES:
  case EPERM:
    return fmt::format("ls -l {}    shows which group may open it (often dialout): join it",
                       pasteable(device));
  case ENOENT:
  case ENXIO:
  case ENODEV:
    return "ls /dev/serial/by-id /dev/tty*    shows the serial devices that there are";
  default:
    return "write the path of a serial device: serial:/dev/ttyUSB0:115200";
  }
}

Failure failed(const Endpoint& endpoint, const SerialEndpoint& where, std::string_view what,
               int error) {
  return fail(codes::connect_failed,
              fmt::format("{}: {} {}: {}", endpoint.text, what, where.device,
                          std::generic_category().message(error)),
              hint_for(error, where.device));
}

Failure busy(const Endpoint& endpoint, const SerialEndpoint& where) {
  return fail("connect.busy",
              fmt::format("{}: another program has {} open", endpoint.text, where.device),
              fmt::format("fuser -v {}    shows which", where.device));
}

Result<UniqueFd> open_alone(const Endpoint& endpoint, const SerialEndpoint& where) {
  // Without O_NONBLOCK even open() would wait on a modem line without carrier.
  UniqueFd fd(::open(where.device.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!fd && errno == EBUSY)
    return busy(endpoint, where);
  if (!fd)
    return failed(endpoint, where, "cannot open", errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK ? busy(endpoint, where)
                                : failed(endpoint, where, "cannot lock", errno);
  return fd;
}

/// Nullopt: done. `before` has the line's former settings.
std::optional<Failure> set_up(int fd, const Endpoint& endpoint, const SerialEndpoint& where,
                              const SerialSettings& before) {
  const auto give_up = [&](Failure failure) {
    before.apply(fd);
    return std::optional(std::move(failure));
  };
  if (const int error = before.for_stub(where.baud).apply(fd); error != 0)
    return give_up(
        failed(endpoint, where, fmt::format("cannot set {} baud on", where.baud), error));
  const auto now = SerialSettings::of(fd);
  const double wrong = now ? std::abs(static_cast<double>(now->baud()) - where.baud) : 0;
  if (wrong > tolerance * where.baud)
    return give_up(fail(codes::connect_failed,
                        fmt::format("{}: {} does not run at {} baud; the nearest it has is {}",
                                    endpoint.text, where.device, where.baud, now->baud()),
                        "give the line and the stub a speed that both have"));
  // Bytes that came while nobody listened answer nothing.
  ::tcflush(fd, TCIFLUSH);
  ::ioctl(fd, TIOCEXCL);
  return std::nullopt;
}

} // namespace

Result<std::unique_ptr<SerialTransport>> SerialTransport::open(const Endpoint& endpoint,
                                                               const SerialEndpoint& where) {
  auto fd = open_alone(endpoint, where);
  if (!fd)
    return forward(std::move(fd));
  const auto before = SerialSettings::of(fd->get());
  if (!before)
    return failed(endpoint, where, "no serial device:", errno);
  auto wakeup = make_wakeup();
  if (!wakeup)
    return forward(std::move(wakeup));
  if (auto failure = set_up(fd->get(), endpoint, where, *before))
    return std::move(*failure);
  return std::unique_ptr<SerialTransport>(
      new SerialTransport(std::move(*fd), std::move(*wakeup), *before, where.baud));
}

SerialTransport::~SerialTransport() {
  // If it was not released, the guardian still uses the line.
  if (!released_)
    return;
  before_.apply(descriptor());
  ::ioctl(descriptor(), TIOCNXCL);
}

LinkLimits SerialTransport::limits() const {
  return {.send_buffer = kernel_buffer, .bytes_per_second = baud_ / bits_per_byte};
}

ssize_t SerialTransport::write_now(std::string_view bytes) {
  return ::write(descriptor(), bytes.data(), bytes.size());
}

ssize_t SerialTransport::read_now(char* into, std::size_t size) {
  return ::read(descriptor(), into, size);
}

} // namespace mqbridge::rsp
