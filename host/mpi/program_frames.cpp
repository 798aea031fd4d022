#include "host/mpi/program_frames.h"

#include "host/disk/file_name.h"
#include "host/mpi/mpi_support.h"
#include "host/stacks/thread_beginnings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

namespace mqbridge {
namespace {

/// Whether a library's name is one of these, up to the version behind it: "libmpi" is libmpi.so.40,
/// and not a program's libmpisolver.so.
bool is_one_of(std::string_view name, Names libraries) {
  return std::ranges::any_of(libraries, [&](std::string_view one) {
    return name.starts_with(one) && (name.size() == one.size() || name[one.size()] == '.' ||
                                     name[one.size()] == '-' || one.ends_with('_'));
  });
}

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

/// Takes one name off `rest`, a chain of names as Cython writes it: "6mpi4py_3MPI_4Comm_". Empty:
/// there is no further name.
std::string_view take_name(std::string_view& rest) {
  std::size_t length = 0;
  const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (fault != std::errc() || length == 0 || length >= rest.size() - digits ||
      rest[digits + length] != '_')
    return {};
  const auto name = rest.substr(digits, length);
  rest.remove_prefix(digits + length + 1);
  return name;
}

} // namespace

std::string_view module_name(const StackFrame& frame) {
  return file_name(frame.module ? *frame.module : std::string_view());
}

bool is_mpi_frame(const StackFrame& frame) {
  const auto name = module_name(frame);
  return std::ranges::any_of(known_mpis(),
                             [&](const auto* mpi) {
                               const auto& libraries = mpi->facts().libraries;
                               return is_one_of(name, libraries.of_programs) ||
                                      is_one_of(name, libraries.inner);
                             }) ||
         frame.c_function().starts_with("MPI::");
}

bool is_runtime_frame(const StackFrame& frame) {
  constexpr std::array<std::string_view, 13> libraries = {
      "libc.musl", "libc.so",   "libc-",   "libpthread",  "ld-",        "libm.so", "librt.so",
      "libgcc_",   "libstdc++", "libgomp", "libgfortran", "linux-vdso", "[vdso]"};
  const auto name = module_name(frame);
  return std::ranges::any_of(libraries, [&](auto one) { return name.starts_with(one); }) ||
         begins_thread(frame.c_function());
}

bool is_mpi4py_frame(const StackFrame& frame) {
  const auto name = module_name(frame);
  return name.starts_with("MPI.") && // what --redact has left of a path is its last part
         (name == *frame.module || frame.module->find("/mpi4py/") != frame.module->npos);
}

std::string_view interpreter_of(std::span<const StackFrame> frames) {
  bool in_python = false;
  for (const StackFrame& frame : frames) {
    if (in_python && !frame.language && frame.module)
      return *frame.module;
    in_python = frame.language.has_value();
  }
  return {};
}

bool only_runs_python(const StackFrame& frame, std::string_view interpreter) {
  return !frame.language && (frame.module == interpreter || is_mpi4py_frame(frame));
}

std::string mpi4py_function(const StackFrame& frame) {
  std::string_view rest = frame.c_function();
  if (!rest.starts_with("__pyx_pw_") && !rest.starts_with("__pyx_pf_"))
    return "mpi4py";
  rest.remove_prefix(std::string_view("__pyx_pw_").size());
  std::string name;
  for (auto part = take_name(rest); !part.empty(); part = take_name(rest))
    name.append(part).append(".");
  while (!rest.empty() && is_digit(rest.front())) // Cython adds a number
    rest.remove_prefix(1);
  return name.starts_with("mpi4py.") && !rest.empty() ? name.append(rest) : "mpi4py";
}

} // namespace mqbridge
