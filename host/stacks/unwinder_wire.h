#pragma once

#include "host/confined/messages.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace mqbridge {

/// One of the calls in which an instruction is.
struct NamedCall {
  std::optional<std::string> function = {};
  std::optional<std::uint64_t> begins_at = {}; ///< of the function; an address in the process,
                                               ///< in FrameNames an address in its file
  std::optional<std::string> file = {};
  std::optional<std::int64_t> line = {};
  bool inlined = false;
};
void describe(auto& form, NamedCall& call) {
  form(call.inlined, call.function, call.begins_at, call.file, call.line);
}

/// An argument of a call: a number or an address. nullopt: not known.
struct CallArgument {
  std::optional<std::uint64_t> value = {};
  std::optional<std::uint32_t> target = {}; ///< the four bytes at that address
};
void describe(auto& form, CallArgument& argument) {
  form(argument.value, argument.target);
}

/// What debug information tells of the arguments of one call, by their places.
struct ArgumentsOfCall {
  static constexpr std::size_t most = 16;

  std::optional<std::string> callee = {};  ///< the function that the caller called
  std::vector<CallArgument> passed = {};   ///< to `callee`, by the caller
  std::vector<CallArgument> received = {}; ///< by the frame's function
};
void describe(auto& form, ArgumentsOfCall& call) {
  form(call.callee);
  form.list(call.passed, ArgumentsOfCall::most);
  form.list(call.received, ArgumentsOfCall::most);
}

} // namespace mqbridge

/// The messages between unwind() and its process, mqbridge-unwinder (host/confined/messages.h).
/// That process reads foreign files with foreign code: whatever it sends is checked by its reader.
/// Either asks and waits for the answer; the unwinder asks only while it owes one.
namespace mqbridge::wire {

enum class UnwinderKind : std::uint8_t {
  // Parent to unwinder.
  start = 1, ///< UnwinderStart; with the page store's descriptor, if there is one
  modules,   ///< some of the ModulePlaces
  thread,    ///< ThreadQuestion, DwarfRegisters. Answered by frames..., kept, thread_end
  names,     ///< addresses of instructions. Answered by calls..., calls_end
  arguments, ///< index of a PlainFrame, ThreadQuestion, DwarfRegisters. Answered by arguments_of
  file,      ///< an answer, with its descriptor
  no_file,   ///< an answer
  // Unwinder to parent: questions, each with the number of a module. Answered by file, no_file
  want_file,
  want_debug,     ///< the separate debug file
  want_alternate, ///< what dwz put elsewhere
  // Answers.
  ready,      ///< to start, and all modules
  frames,     ///< some PlainFrames of the thread
  kept,       ///< all KeptRegisters of the thread
  thread_end, ///< StackEnd; whether libdw cannot unwind on this architecture at all
  calls,      ///< some NamedCalls, each after the index of its address
  calls_end,
  arguments_of, ///< ArgumentsOfCall
  no_sandbox,   ///< text: it cannot confine itself, and ends
};

struct UnwinderStart {
  std::uint32_t modules = 0; ///< how many follow
  std::uint32_t max_frames = 0;
  std::uint16_t stack_pointer = 0; ///< its number in DWARF
  std::uint8_t pointer_size = 0;
  std::uint8_t big_endian = 0;
  std::uint8_t sandboxed = 1;
  std::uint8_t unused[3] = {};
};

/// One loaded object. Its number is its index.
struct ModulePlace {
  std::uint64_t start = 0; ///< of its first segment
  std::uint64_t end = 0;   ///< behind its last one
  std::uint64_t bias = 0;
};

struct ThreadQuestion {
  std::uint64_t program_counter = 0;
  std::uint64_t captured_to = 0;
  std::uint8_t cut = 0; ///< the stack goes on behind captured_to
  std::uint8_t unused[7] = {};
};

/// A frame without what inlining hides.
struct PlainFrame {
  std::uint64_t address = 0;
  std::uint64_t stack_pointer = 0;
  std::uint8_t exact = 0; ///< `address` is where it was interrupted, not a return address
  std::uint8_t has_stack_pointer = 0;
  std::uint8_t unused[6] = {};

  /// An address of the instruction that it is at.
  constexpr std::uint64_t lookup() const {
    return exact != 0 || address == 0 ? address : address - 1;
  }
};

/// The value of a register that a frame's function keeps over the call it is in: its caller finds
/// another value there when the function returns.
struct KeptRegister {
  std::uint64_t value = 0;
  std::uint32_t frame = 0; ///< index of the PlainFrame
  std::uint8_t unused[4] = {};
};

inline constexpr std::size_t max_kept_registers = 512;    ///< of one thread, innermost first
inline constexpr std::size_t max_modules_chunk = 2000;    ///< ModulePlaces of one message
inline constexpr std::size_t max_frames_chunk = 2000;     ///< PlainFrames of one message
inline constexpr std::size_t max_names_asked = 4000;      ///< addresses of one question
inline constexpr std::size_t max_calls_chunk = 16 * 1024; ///< bytes at which one is sent

static_assert(max_modules_chunk * sizeof(ModulePlace) + 1 <= max_message);
static_assert(max_frames_chunk * sizeof(PlainFrame) + 1 <= max_message);
static_assert(max_kept_registers * sizeof(KeptRegister) + 1 <= max_message);
static_assert(max_names_asked * sizeof(std::uint64_t) + 1 <= max_message);
static_assert(max_calls_chunk + 2 * max_text + 64 <= max_message);

} // namespace mqbridge::wire
