#pragma once

#include "host/confined/page_view.h"
#include "host/stacks/stack.h"
#include "host/stacks/thread_registers.h"
#include "host/stacks/unwinder/modules.h"
#include "host/stacks/unwinder_wire.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace mqbridge::unwinder {

struct CallChain {
  std::vector<wire::PlainFrame> frames; ///< innermost first
  std::vector<wire::KeptRegister> kept = {};
  StackEnd end = StackEnd::outermost;
  bool unsupported = false; ///< libdw cannot unwind on this architecture
};

/// Unwinds threads of one process with libdwfl, by call frame information alone: it gives libdwfl
/// no way to guess by frame pointers.
class Unwinder {
public:
  Unwinder(Modules& modules, sandbox::PageView& pages, const wire::UnwinderStart& process)
      : modules_(modules), pages_(pages), process_(process) {}

  using Registers = std::vector<std::optional<std::uint64_t>>; ///< by their numbers in DWARF

  CallChain unwind(const wire::ThreadQuestion& thread, std::span<const DwarfRegister> registers);
  /// The registers of the frames of the thread that was unwound last, without the stack pointer.
  std::span<const Registers> registers() const { return registers_of_frames_; }
  /// False: some of the bytes are not known.
  bool read(std::uint64_t address, std::span<std::byte> into);

private:
  /// The unwind information for the code of a frame.
  struct FrameInformation {
    bool found = false;
    bool is_trampoline = false;           ///< what a signal handler returns to
    bool is_outermost = false;            ///< its return address is undefined
    std::vector<unsigned> registers = {}; ///< the registers that are needed to find the caller
  };

  bool attach();
  void end_without_libdw();
  void judge_end(int result);
  FrameInformation information(std::uint64_t address);
  FrameInformation look_into(Dwarf_CFI* information, std::uint64_t address) const;
  bool may_be_trampoline(std::uint64_t address);
  std::optional<StackEnd> end_before(const wire::PlainFrame& frame, bool after_trampoline);
  int add_frame(Dwfl_Frame* state);
  void add_kept(Dwfl_Frame* caller);
  StackEnd end_at_failed_read() const;
  bool read_word(std::uint64_t address, std::uint64_t& word);
  bool set_registers(Dwfl_Thread* thread) const;

  static const Dwfl_Thread_Callbacks& callbacks();

  Modules& modules_;
  sandbox::PageView& pages_;
  const wire::UnwinderStart& process_;
  bool tried_to_attach_ = false;
  bool attached_ = false;

  // The thread that is being unwound.
  wire::ThreadQuestion thread_;
  std::span<const DwarfRegister> registers_;
  CallChain chain_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_; ///< addresses and stack pointers
  std::vector<Registers> registers_of_frames_;
  bool after_trampoline_ = false;
  bool outermost_ = false;                   ///< the frame's return address is undefined
  std::optional<StackEnd> end_;              ///< why the frame is the last one
  std::optional<std::uint64_t> failed_read_; ///< the address of a read that failed since the frame
};

} // namespace mqbridge::unwinder
