#pragma once

#include "tests/support/scripted_stub.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace mqbridge::test {

/// How a stub answers a read that runs into unmapped memory.
enum class AtHole { refuse /* gdbserver: E01, all or nothing */, cut /* lldb-server: short */ };

/// Which form the stub's binary read has, if any.
enum class BinaryForm { none, gdb, lldb };

/// The memory behind a scripted stub: pieces, and holes between them. Serves `m`, and `x` where a
/// form is given.
class StubMemory {
public:
  /// Not while the stub serves it.
  void put(std::uint64_t address, std::string bytes) { pieces_[address] = std::move(bytes); }

  /// A copy of this memory answers the stub's `m` and `x` from now on. Longer requests than
  /// `longest` bytes fail the test: gdbserver would crash.
  void serve(ScriptedStub& stub, AtHole at_hole, BinaryForm form, std::size_t longest) const;

  /// What is readable from `address` on, at most `length` bytes.
  std::string read(std::uint64_t address, std::size_t length) const;

private:
  std::map<std::uint64_t, std::string> pieces_;
};

/// A byte that differs from its neighbours and from page to page.
std::string pattern(std::uint64_t address, std::size_t length);

} // namespace mqbridge::test
