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
  /// The settings of the line behind `fd`; nullopt, with errno: it is no serial line.
  static std::optional<SerialSettings> of(int fd);

  /// Sets the line to these, once all bytes written before have left. 0 or an errno.
  int apply(int fd) const;

  /// The same line for a stub: bytes as they are, 8N1, no flow control, `baud` bits a second, no
  /// hang-up when it is closed (which resets many boards).
  SerialSettings for_stub(std::uint32_t baud) const;

  /// Bits a second. Read back, it is the speed that the driver really chose.
  std::uint32_t baud() const;

private:
  struct Kernel;
  explicit SerialSettings(const Kernel& kernel);
  std::shared_ptr<const Kernel> kernel_;
};

} // namespace mqbridge::rsp
