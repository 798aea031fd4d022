#pragma once

#include "tests/support/real_stub.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::e2e {

/// A machine without any operating system, in qemu-system, that runs bare_poster: it has recorded
/// its operations, and its own stub listens. Throws std::runtime_error if it does not come so far.
class BareMachine {
public:
  /// m68k or riscv64.
  explicit BareMachine(std::string_view architecture);

  const std::string& endpoint() const { return stub_->endpoint(); }
  /// What runs there.
  const std::string& program() const { return program_; }

  /// For MQBRIDGE_SKIP_IF_LACKING.
  static std::string lacking(std::string_view architecture);

private:
  std::string program_;
  std::optional<test::RealStub> stub_;
};

/// Dumps it, twice, and expects what bare_poster.c records and the platform `byte_order`,
/// `pointer_size`.
void expect_dump_of_bare_machine(std::string_view architecture, std::string_view byte_order,
                                 int pointer_size);

} // namespace mqbridge::e2e
