#include "host/mpi/program_frames.h"

#include "host/disk/file_name.h"
#include "host/stacks/thread_beginnings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <string_view>

namespace mqbridge {
namespace {

/// Whether a library's name is one of these, up to the version behind it: "libmpi" is libmpi.so.40,
/// and not a program's libmpisolver.so.
bool is_one_of(std::string_view name, std::span<const std::string_view> libraries) {
  return std::ranges::any_of(libraries, [&](std::string_view one) {
    return name.starts_with(one) && (name.size() == one.size() || name[one.size()] == '.' ||
                                     name[one.size()] == '-' || one.ends_with('_'));
  });
}

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

/// One name of a chain as Cython writes it, "6mpi4py_3MPI_4Comm_": taken off `rest`; empty: there
/// is no more of it.
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
  constexpr auto libraries = std::to_array<std::string_view>(
      {"libmpi",        "libmpi_cxx",          "libmpi_mpifh",
       "libmpi_usempi", "libmpi_usempif08",    "libmpi_usempi_ignore_tkr",
       "libmpi_java",   "libmpi_gnu_",         "libmpi_cray",
       "libmpi_intel",  "libmpi_ilp64",        "libmpich",
       "libmpichcxx",   "libmpichfort",        "libmpifort",
       "libmpicxx",     "libfmpich",           "libopen-pal",
       "libopen-rte",   "libmqbridge-recorder"});
  return is_one_of(module_name(frame), libraries) ||
         (frame.function && frame.function->starts_with("MPI::"));
}

bool is_runtime_frame(const StackFrame& frame) {
  constexpr std::array<std::string_view, 13> libraries = {
      "libc.musl", "libc.so",   "libc-",   "libpthread",  "ld-",        "libm.so", "librt.so",
      "libgcc_",   "libstdc++", "libgomp", "libgfortran", "linux-vdso", "[vdso]"};
  const auto name = module_name(frame);
  return std::ranges::any_of(libraries, [&](auto one) { return name.starts_with(one); }) ||
         (frame.function && begins_thread(*frame.function));
}

bool is_mpi4py_frame(const StackFrame& frame) {
  return module_name(frame).starts_with("MPI.") &&
         frame.module->find("/mpi4py/") != frame.module->npos;
}

std::string mpi4py_function(const StackFrame& frame) {
  std::string_view rest = frame.function ? *frame.function : std::string_view();
  if (!rest.starts_with("__pyx_pw_") && !rest.starts_with("__pyx_pf_"))
    return "mpi4py";
  rest.remove_prefix(std::string_view("__pyx_pw_").size());
  std::string name;
  for (auto part = take_name(rest); !part.empty(); part = take_name(rest))
    name.append(part).append(".");
  while (!rest.empty() && is_digit(rest.front())) // a number of Cython's own
    rest.remove_prefix(1);
  return name.starts_with("mpi4py.") && !rest.empty() ? name.append(rest) : "mpi4py";
}

} // namespace mqbridge
