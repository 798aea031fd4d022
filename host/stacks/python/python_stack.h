#pragma once

#include "host/memory/address.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// One function of Python that a thread is in. UTF-8; what is no text of Unicode is U+FFFD there.
struct PythonFrame {
  std::string function;                  ///< its qualified name, "Solver.exchange", "<module>"
  std::string file;                      ///< as Python names it: "solver.py", "<string>"
  std::optional<std::int64_t> line = {}; ///< from 1; nullopt: not known
};

/// One call of the interpreter's evaluator, a function in C, which runs several functions of Python
/// where these call each other.
struct PythonCall {
  std::vector<PythonFrame> frames; ///< innermost first
  /// The address of a variable of that function in C; nullopt: not known.
  std::optional<TargetAddress> on_stack = {};
};

/// What a thread does in Python: its calls of the evaluator, innermost first. The first one's
/// `on_stack`, or its number, tells which thread of the process this is.
struct PythonThread {
  std::vector<PythonCall> calls;
  std::optional<std::uint64_t> thread_id = {}; ///< the C library's number of it, where it tells
  std::optional<std::int64_t> number = {};     ///< ProcessThread::tid
  /// While the evaluator itself runs, its innermost line may be an earlier one.
  bool notes_late = false;
};

} // namespace mqbridge
