#pragma once

#include "host/confined/messages.h"

#include <cstddef>
#include <cstdint>

/// The messages between unwind() and its process, mqbridge-unwinder (host/confined/messages.h).
/// That process reads foreign files with foreign code: whatever it sends is checked by its reader.
/// Either asks and waits for the answer; the unwinder asks only while it owes one.
namespace mqbridge::wire {

enum class UnwinderKind : std::uint8_t {
  // Parent to unwinder.
  start = 1, ///< UnwinderStart; with the page store's descriptor, if there is one
  modules,   ///< some of the ModulePlaces
  thread,    ///< ThreadQuestion, DwarfRegisters. Answered by frames..., thread_end
  file,      ///< an answer, with its descriptor
  no_file,   ///< an answer
  // Unwinder to parent: questions, each with the number of a module. Answered by file, no_file
  want_file,
  want_debug,     ///< the separate debug file
  want_alternate, ///< what dwz put elsewhere
  // Answers.
  ready,      ///< to start, and all modules
  frames,     ///< some frames of the thread: see put_frame() (host/stacks/unwinder/session.cpp)
  thread_end, ///< StackEnd; whether libdw can unwind on this architecture at all
  no_sandbox, ///< text: it cannot confine itself, and ends
};

struct UnwinderStart {
  std::uint32_t modules = 0; ///< how many follow
  std::uint32_t max_frames = 0;
  std::uint16_t stack_pointer = 0; ///< its number in DWARF
  std::uint8_t pointer_size = 0;
  bool big_endian = false;
  bool sandboxed = true;
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
  bool cut = false; ///< the stack goes on behind captured_to
  std::uint8_t unused[7] = {};
};

inline constexpr std::size_t max_modules_chunk = 2000;     ///< ModulePlaces of one message
inline constexpr std::size_t max_frames_chunk = 16 * 1024; ///< bytes at which one is sent
inline constexpr std::uint32_t no_module = 0xffffffff;

static_assert(max_modules_chunk * sizeof(ModulePlace) + 1 <= max_message);
static_assert(max_frames_chunk + 2 * max_text + 64 <= max_message);

} // namespace mqbridge::wire
