#include "host/stacks/unwinder/call_chain.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <memory>
#include <string>
#include <string_view>

namespace mqbridge::unwinder {
namespace {

constexpr pid_t some_process = 1; // libdwfl wants a number, and asks nobody for it
constexpr pid_t some_thread = 1;
/// No architecture has general registers with higher numbers in DWARF.
constexpr unsigned most_registers = 128;

/// The register from which a frame's own address is computed; nullopt: it is found in another way.
std::optional<unsigned> base_register(Dwarf_Frame* frame) {
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (::dwarf_frame_cfa(frame, &operations, &count) != 0 || count == 0)
    return std::nullopt;
  const auto atom = operations[0].atom;
  if (atom == DW_OP_bregx)
    return static_cast<unsigned>(operations[0].number);
  if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
    return static_cast<unsigned>(atom - DW_OP_breg0);
  return std::nullopt;
}

} // namespace

const Dwfl_Thread_Callbacks& Unwinder::callbacks() {
  static const Dwfl_Thread_Callbacks table = {
      .next_thread = [](Dwfl*, void* of, void** state) -> pid_t {
        const bool first = *state == nullptr;
        *state = of;
        return first ? some_thread : 0;
      },
      .get_thread =
          [](Dwfl*, pid_t, void* of, void** state) {
            *state = of;
            return true;
          },
      .memory_read = [](Dwfl*, Dwarf_Addr address, Dwarf_Word* word,
                        void* of) { return static_cast<Unwinder*>(of)->read_word(address, *word); },
      .set_initial_registers =
          [](Dwfl_Thread* thread, void* of) {
            return static_cast<Unwinder*>(of)->set_registers(thread);
          },
      .detach = nullptr,
      .thread_detach = nullptr,
  };
  return table;
}

// libdwfl learns the architecture from the file of a module.
bool Unwinder::attach() {
  if (std::exchange(tried_to_attach_, true))
    return attached_;
  auto* module = modules_.any();
  GElf_Addr bias = 0;
  auto* elf = module != nullptr ? ::dwfl_module_getelf(module, &bias) : nullptr;
  attached_ =
      elf != nullptr && ::dwfl_attach_state(modules_.dwfl(), elf, some_process, &callbacks(), this);
  return attached_;
}

CallChain Unwinder::unwind(const wire::ThreadQuestion& thread,
                           std::span<const DwarfRegister> registers) {
  thread_ = thread;
  registers_ = registers;
  chain_ = {};
  seen_.clear();
  registers_of_frames_.clear();
  end_.reset();
  after_trampoline_ = outermost_ = false;
  failed_read_.reset();
  const auto step = [](Dwfl_Frame* state, void* of) {
    return static_cast<Unwinder*>(of)->add_frame(state);
  };
  const int result =
      attach() ? ::dwfl_getthread_frames(modules_.dwfl(), some_thread, step, this) : -1;
  if (chain_.frames.empty())
    end_without_libdw();
  else
    judge_end(result);
  return std::move(chain_);
}

// Ends the chain if libdw does not know the architecture, or has no file that tells it.
void Unwinder::end_without_libdw() {
  chain_.unsupported = modules_.any() != nullptr;
  chain_.end = StackEnd::no_cfi;
  wire::PlainFrame frame;
  frame.address = thread_.program_counter;
  frame.exact = 1;
  for (const auto& [number, value] : registers_)
    if (number == process_.stack_pointer) {
      frame.stack_pointer = value;
      frame.has_stack_pointer = 1;
    }
  chain_.frames.push_back(frame);
}

void Unwinder::judge_end(int result) {
  if (end_)
    chain_.end = *end_;
  else if (failed_read_ && !outermost_)
    chain_.end = end_at_failed_read();
  else if (result == 0 && !outermost_) {
    // A return address of 0. On some architectures a thread begins so; on others the stack was
    // overwritten. Only code that knows functions can tell.
    chain_.frames.emplace_back();
    chain_.end = StackEnd::no_cfi;
  } else if (result == 0)
    chain_.end = StackEnd::outermost;
  else
    chain_.end = StackEnd::unreadable;
}

StackEnd Unwinder::end_at_failed_read() const {
  constexpr std::uint64_t longest_stack = std::uint64_t{1} << 30;
  const bool behind =
      *failed_read_ >= thread_.captured_to && *failed_read_ - thread_.captured_to < longest_stack;
  return thread_.cut != 0 && behind ? StackEnd::cut : StackEnd::unreadable;
}

// A function may change a register only if it has saved its caller's value. What it has not changed
// is its caller's, and may be of anything.
void Unwinder::add_kept(Dwfl_Frame* caller) {
  Registers values(most_registers);
  const Registers* inner = registers_of_frames_.empty() ? nullptr : &registers_of_frames_.back();
  for (unsigned number = 0; number < most_registers; ++number) {
    Dwarf_Word value = 0;
    if (number == process_.stack_pointer || ::dwfl_frame_reg(caller, number, &value) != 0)
      continue;
    values[number] = value;
    if (inner != nullptr && (*inner)[number] && *(*inner)[number] != value &&
        chain_.kept.size() < wire::max_kept_registers)
      chain_.kept.push_back(
          {*(*inner)[number], static_cast<std::uint32_t>(chain_.frames.size() - 1)});
  }
  registers_of_frames_.push_back(std::move(values));
}

int Unwinder::add_frame(Dwfl_Frame* state) {
  wire::PlainFrame frame;
  const bool exact = chain_.frames.empty() || after_trampoline_;
  ::dwfl_frame_pc(state, &frame.address, nullptr);
  Dwarf_Word stack_pointer = 0;
  if (::dwfl_frame_reg(state, process_.stack_pointer, &stack_pointer) == 0)
    frame.has_stack_pointer = 1;
  frame.stack_pointer = stack_pointer;
  end_ = end_before(frame, after_trampoline_);
  if (end_)
    return DWARF_CB_ABORT;
  add_kept(state);
  const auto found = information(exact ? frame.address : frame.address - 1);
  after_trampoline_ = found.is_trampoline || (!found.found && may_be_trampoline(frame.address));
  outermost_ = found.is_outermost;
  frame.exact = exact || after_trampoline_ ? 1 : 0;
  chain_.frames.push_back(frame);
  failed_read_.reset();
  Dwarf_Word value = 0;
  if (!found.found && !after_trampoline_)
    end_ = StackEnd::no_cfi;
  else if (std::ranges::any_of(found.registers, [&](unsigned number) {
             return ::dwfl_frame_reg(state, number, &value) != 0;
           }))
    end_ = StackEnd::unreadable; // the stub did not give the registers
  else if (chain_.frames.size() == process_.max_frames)
    end_ = StackEnd::limit;
  return end_ ? DWARF_CB_ABORT : DWARF_CB_OK;
}

// Stacks grow downwards on every architecture that libdw can unwind on: a caller's frame lies above
// the frame of the called function. A function that calls no other may have no frame of its own;
// and a signal handler may run on another stack.
std::optional<StackEnd> Unwinder::end_before(const wire::PlainFrame& frame, bool after_trampoline) {
  if (!seen_.insert({frame.address, frame.stack_pointer}).second)
    return StackEnd::repeats;
  if (chain_.frames.empty() || after_trampoline)
    return std::nullopt;
  const auto& inner = chain_.frames.back();
  if (frame.has_stack_pointer != 0 && inner.has_stack_pointer != 0 &&
      frame.stack_pointer < inner.stack_pointer)
    return StackEnd::repeats;
  return std::nullopt;
}

Unwinder::FrameInformation Unwinder::information(std::uint64_t address) {
  auto* module = modules_.at(address);
  if (module == nullptr)
    return {};
  Dwarf_Addr bias = 0;
  auto* loaded = ::dwfl_module_eh_cfi(module, &bias);
  if (auto found = look_into(loaded, address - bias); found.found)
    return found;
  modules_.dwarf(module, bias);
  auto* debug = ::dwfl_module_dwarf_cfi(module, &bias);
  return look_into(debug, address - bias);
}

Unwinder::FrameInformation Unwinder::look_into(Dwarf_CFI* information,
                                               std::uint64_t address) const {
  Dwarf_Frame* found = nullptr;
  if (information == nullptr || ::dwarf_cfi_addrframe(information, address, &found) != 0)
    return {};
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> frame(found, &std::free);
  bool is_trampoline = false;
  const int return_address = ::dwarf_frame_info(frame.get(), nullptr, nullptr, &is_trampoline);
  Dwarf_Op room[3];
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  const bool known = return_address >= 0 && ::dwarf_frame_register(frame.get(), return_address,
                                                                   room, &operations, &count) == 0;
  FrameInformation facts{.found = true,
                         .is_trampoline = is_trampoline,
                         .is_outermost = known && count == 0 && operations == room};
  if (known && count == 0 && operations == nullptr) // the register stays where it is
    facts.registers.push_back(static_cast<unsigned>(return_address));
  if (const auto base = base_register(frame.get()))
    facts.registers.push_back(*base);
  return facts;
}

// On s390x a trampoline stands on the stack, without unwind information. libdwfl recognises its
// instruction, but only if there is no information.
bool Unwinder::may_be_trampoline(std::uint64_t address) {
  auto* module = modules_.any();
  GElf_Addr bias = 0;
  GElf_Ehdr header;
  if (module == nullptr || modules_.number_at(address) ||
      ::gelf_getehdr(::dwfl_module_getelf(module, &bias), &header) == nullptr)
    return false;
  return std::ranges::any_of(
      architecture_of(header).signal_returns, [&](std::string_view expected) {
        std::string code(expected.size(), '\0');
        return !expected.empty() &&
               pages_.fetch(address, std::as_writable_bytes(std::span(code))) && code == expected;
      });
}

bool Unwinder::read(std::uint64_t address, std::span<std::byte> into) {
  return pages_.fetch(address, into) || modules_.read(address, into);
}

bool Unwinder::read_word(std::uint64_t address, std::uint64_t& word) {
  std::array<std::byte, sizeof word> bytes{};
  const auto all = std::span(bytes).first(process_.pointer_size);
  if (!read(address, all)) {
    failed_read_ = address;
    return false;
  }
  word = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    word = word << 8 | std::to_integer<std::uint64_t>(
                           process_.big_endian != 0 ? all[i] : all[all.size() - 1 - i]);
  return true;
}

bool Unwinder::set_registers(Dwfl_Thread* thread) const {
  ::dwfl_thread_state_register_pc(thread, thread_.program_counter);
  for (const auto& [number, value] : registers_) {
    const Dwarf_Word word = value;
    ::dwfl_thread_state_registers(thread, number, 1, &word); // libdwfl leaves unknown ones out
  }
  return true;
}

} // namespace mqbridge::unwinder
