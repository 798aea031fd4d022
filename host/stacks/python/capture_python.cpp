#include "host/stacks/python/capture_python.h"

#include "host/disk/file_name.h"
#include "host/stacks/python/python_layout.h"
#include "host/stacks/python/read_python.h"
#include "host/stacks/thread_registers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

/// A process's memory, of which some has been captured: that is not read again.
class BehindCaptured final : public Memory {
public:
  BehindCaptured(PageStore* captured, Memory& memory) : captured_(captured), memory_(memory) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    std::vector<MemoryRange> rest;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (captured_ != nullptr && captured_->copy(ranges[i].address.value, ranges[i].into)) {
        ranges[i].read = ranges[i].into.size();
      } else {
        rest.push_back(ranges[i]);
        places.push_back(i);
      }
    if (rest.empty())
      return {};
    if (auto done = memory_.read_ranges(rest); !done)
      return done;
    for (std::size_t i = 0; i < rest.size(); ++i)
      ranges[places[i]].read = rest[i].read;
    return {};
  }

private:
  PageStore* captured_;
  Memory& memory_;
};

/// A word of the process; 0: it cannot be read.
Result<std::uint64_t> word_at(const AddressSpace& space, TargetAddress address,
                              const Field& field) {
  const auto words = Words::of({&address.value, 1}, {field}, space);
  return words ? Result<std::uint64_t>(words->get(address.value, field).value_or(0))
               : Failure(words.error());
}

/// The release by the name of the interpreter's file, "python3.9", "libpython3.9.so.1.0"; 0: the
/// name does not tell.
std::uint64_t release_by_name(const Image& image) {
  constexpr std::string_view begin = "python3.";
  const std::string_view name = file_name(image.target_path);
  const auto at = name.find(begin);
  unsigned minor = 0;
  if (at == name.npos)
    return 0;
  const auto* const digits = name.data() + at + begin.size();
  std::from_chars(digits, name.data() + name.size(), minor);
  return minor == 0 || minor > 0xff ? 0 : std::uint64_t{3} << 8 | minor;
}

/// The release of the interpreter that has the symbol; 0: not known. Py_Version is there from 3.11
/// on.
Result<std::uint64_t> read_release(const AddressSpace& space, const ResolvedSymbol& runtime) {
  const auto version = space.images.find_symbol("Py_Version");
  if (!version)
    return runtime.image != nullptr ? release_by_name(*runtime.image) : 0;
  auto known =
      word_at(space, version->address, {0, static_cast<std::size_t>(space.platform.long_size)});
  return known ? Result<std::uint64_t>(release_of(*known)) : forward(std::move(known));
}

/// The thread whose number in the C library that is; nullopt: nothing tells.
std::optional<std::int64_t> thread_of(std::uint64_t id, const std::vector<CapturedThread>& threads,
                                      const Platform& platform) {
  for (const CapturedThread& thread : threads)
    if (thread_pointer(thread.thread, platform) == id)
      return thread.thread.tid;
  return threads.size() == 1 ? std::optional(threads.front().thread.tid) : std::nullopt;
}

Error unknown_python(std::uint64_t release) {
  return {"python.unknown",
          fmt::format("where Python {} keeps its functions is not known: stacks have those of the "
                      "interpreter",
                      release != 0 ? python_release(release) : "of an unknown release"),
          "functions and lines are shown of CPython 3.8 to 3.14, not free-threaded; elsewhere: "
          "py-spy dump --pid PID, in the process's own container"};
}

Error damaged_python(std::size_t threads) {
  return {"python.damaged",
          fmt::format("what {} threads do in Python could not be read as a whole: their stacks "
                      "have the functions of the interpreter",
                      threads),
          "dump again; it stays so where the program has damaged its memory, or has called its "
          "functions too deeply for this link"};
}

} // namespace

Result<void> capture_python(StoppedProcess& process, CapturedStacks& captured) {
  ImageSet& images = process.images();
  const auto runtime = images.find_symbol("_PyRuntime");
  if (!runtime)
    return {};
  BehindCaptured memory(captured.pages.get(), process.memory());
  const AddressSpace space{images, memory, process.platform()};
  const auto release = read_release(space, *runtime);
  if (!release)
    return Failure(release.error());
  auto layout = layout_of_python(*release, space.platform);
  if (!layout) {
    std::array<std::byte, described_runtime> beginning{};
    const auto read = memory.read(runtime->address, beginning);
    if (!read)
      return Failure(read.error());
    layout = described_layout(std::span(beginning).first(*read), space.platform);
  }
  const auto code_type = images.find_symbol("PyCode_Type");
  const auto text_type = images.find_symbol("PyUnicode_Type");
  const auto bytes_type = images.find_symbol("PyBytes_Type");
  if (!layout || !code_type || !text_type || !bytes_type) {
    captured.warnings.push_back(unknown_python(*release));
    return {};
  }
  const auto interpreter = word_at(space, runtime->address, layout->first_interpreter);
  if (!interpreter)
    return Failure(interpreter.error());
  const auto frame_type = images.find_symbol("PyFrame_Type");
  auto python = read_python(space, *layout, *interpreter,
                            {code_type->address, text_type->address, bytes_type->address,
                             frame_type ? std::optional(frame_type->address) : std::nullopt});
  if (!python)
    return forward(std::move(python));
  for (PythonThread& thread : python->threads) {
    thread.notes_late = layout->notes_late;
    if (thread.thread_id)
      thread.number = thread_of(*thread.thread_id, captured.threads, space.platform);
  }
  captured.python = std::move(python->threads);
  if (python->lost > 0)
    captured.warnings.push_back(damaged_python(python->lost));
  return {};
}

} // namespace mqbridge
