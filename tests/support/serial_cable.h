#pragma once

#include "rsp/unique_fd.h"
#include "tests/support/byte_pump.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mqbridge::test {

/// A serial line between two devices: two pseudo-terminals, and a pump each way that moves bytes no
/// faster than the line's speed allows. As with a line of three wires, neither end learns that
/// nobody is at the other one.
class SerialCable {
public:
  /// Throws std::system_error if there are no pseudo-terminals to be had.
  explicit SerialCable(std::uint32_t baud);

  const std::string& near() const { return near_.device; } ///< paths of the two devices
  const std::string& far() const { return far_.device; }
  std::uint64_t to_near() const { return to_near_->moved(); } ///< bytes so far
  std::uint64_t to_far() const { return to_far_->moved(); }   ///< the same

  /// Nothing comes out of the near end any more: a read there ends, as for a device pulled out.
  void unplug_near();

private:
  struct End {
    End();
    rsp::UniqueFd controller;
    std::string device;
    rsp::UniqueFd keeper; ///< an end that nobody has open would be hung up
  };

  End near_;
  End far_;
  std::unique_ptr<BytePump> to_far_;
  std::unique_ptr<BytePump> to_near_;
};

} // namespace mqbridge::test
