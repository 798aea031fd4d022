#pragma once

#include "host/memory/platform.h"
#include "host/process/structures.h"
#include "host/stacks/python/line_table.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mqbridge {

/// Where one release of CPython keeps its frames: places in its structures. Each comment names the
/// structure, as CPython's headers do.
struct PythonLayout {
  Field first_interpreter; ///< _PyRuntimeState
  Field next_interpreter;  ///< PyInterpreterState
  Field first_thread;      ///< PyInterpreterState
  Field next_thread;       ///< PyThreadState
  Field interpreter;       ///< PyThreadState
  Field frame;             ///< PyThreadState: its innermost frame; or its _PyCFrame
  Field frame_of_cframe;   ///< _PyCFrame, a variable on the C stack; not known: there is none
  /// PyThreadState: the thread's number in the C library. Only for frames that are objects.
  Field thread_id;
  std::uint64_t code_tags = 0; ///< bits of `code` that are none of its address
  Field code;                  ///< _PyInterpreterFrame or PyFrameObject, as all up to `owner`
  Field previous;
  Field instruction; ///< its address; in an object its number (instruction_unit)
  Field is_entry;    ///< whether it is the outermost frame of its call of the evaluator
  /// Where `is_entry` is not known: who owns the frame. `entry_owner`: it is none of Python's, but
  /// a variable of the evaluator, behind the outermost frame of that call.
  Field owner;
  static constexpr std::uint64_t entry_owner = 3;
  /// Before 3.11 each frame is a PyFrameObject, and is run by a call of the evaluator of its own:
  /// how many of its numbers an instruction has. 0: frames are no objects.
  std::uint64_t instruction_unit = 0;
  Field type;  ///< PyObject
  Field size;  ///< PyVarObject
  Field file;  ///< PyCodeObject, as all up to `instructions`
  Field name;  ///< the qualified one where there is one
  Field lines; ///< bytes
  LineTable line_table = LineTable::locations;
  Field first_line;
  std::uint64_t instructions = 0; ///< offset of the first one
  Field text_length;              ///< PyASCIIObject, in letters
  Field text_state;
  std::uint64_t ascii = 0;      ///< offset of the letters of a text in ASCII
  std::uint64_t other_text = 0; ///< of any other text
  std::uint64_t bytes = 0;      ///< PyBytesObject: offset of the first byte
  /// While the evaluator runs, `instruction` may be an earlier one.
  bool notes_late = false;
};

/// The release of what Py_Version has: 0x030b of 0x030b02f0, which is 3.11.2.
constexpr std::uint64_t release_of(std::uint64_t version) {
  return version >> 16;
}

std::string python_release(std::uint64_t release); ///< "3.11"

/// The layout of 3.8 to 3.12, which is the same for each build of them but for those for CPython's
/// own debugging. nullopt: of no other release it is known.
std::optional<PythonLayout> layout_of_python(std::uint64_t release, const Platform& platform);

/// The layout that the interpreter tells itself, in _PyRuntime, from 3.13 on. `runtime`: its
/// beginning, of `described_runtime` bytes. nullopt: it tells none, or one of a release that tells
/// it otherwise than 3.13 and 3.14, or of a free-threaded build.
inline constexpr std::size_t described_runtime = 81 * sizeof(std::uint64_t);
std::optional<PythonLayout> described_layout(std::span<const std::byte> runtime,
                                             const Platform& platform);

} // namespace mqbridge
