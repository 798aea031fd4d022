#pragma once

#include <cstdint>
#include <memory>
#include <optional>

// The kernel's own structures for any speed (termios2) and those of the C library exclude each
// other in one file: this keeps them apart.

namespace mqbridge::rsp {

/// All settings of a serial line, as the kernel keeps them.
class SerialSettings {
public:
  /// Of the line behind `fd`; nullopt, with errno: it is none.
  static std::optional<SerialSettings> of(int fd);

  /// Makes these the line's, once what was written before has left. 0 or an errno.
  int apply(int fd) const;

  /// The same line for a stub: bytes as they are, 8N1, no flow control, `baud` bits a second, no
  /// hang-up when it is closed (which resets many boards).
  SerialSettings for_stub(std::uint32_t baud) const;

  /// Bits a second: what the driver made of the wish, once read back.
  std::uint32_t baud() const;

private:
  struct Kernel;
  explicit SerialSettings(const Kernel& kernel);
  std::shared_ptr<const Kernel> kernel_;
};

} // namespace mqbridge::rsp
