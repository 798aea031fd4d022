#include "host/stacks/python/python_layout.h"

#include "host/memory/reader.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace mqbridge {
namespace {

constexpr std::uint64_t release_3_8 = 0x0308;
constexpr std::uint64_t release_3_9 = 0x0309;
constexpr std::uint64_t release_3_10 = 0x030a;
constexpr std::uint64_t release_3_11 = 0x030b;
constexpr std::uint64_t release_3_12 = 0x030c;
constexpr std::uint64_t release_3_13 = 0x030d;
constexpr std::uint64_t release_3_14 = 0x030e;

/// Where _Py_DebugOffsets has the offset of a member, counted in numbers of 8 bytes.
struct Described {
  std::size_t first_interpreter, next_interpreter, first_thread, next_thread, interpreter, frame;
  std::size_t previous, code, instruction, owner;
  std::size_t file, name, lines, first_line, instructions;
  std::size_t type, size, bytes, text_state, text_length, ascii;
};
constexpr Described described_3_13 = {5,  8,  9,  21, 22, 23, 29, 30, 31, 33, 35,
                                      37, 38, 39, 43, 45, 65, 66, 68, 69, 70};
constexpr Described described_3_14 = {5,  8,  9,  24, 25, 26, 32, 33, 34, 36, 40,
                                      42, 43, 44, 48, 51, 75, 76, 78, 79, 80};

/// Places of members by what stands before them in the structure, a letter each: 'p' a pointer, or
/// another integer of its width, 'q' 8 bytes, 'i' 4, 'h' 2, 'b' 1.
class Places {
public:
  explicit Places(const Platform& platform) : platform_(platform) {}

  Field behind(std::string_view members, char member) const {
    std::uint64_t offset = 0;
    for (const char each : members)
      offset = aligned(offset, each) + size_of(each);
    return {aligned(offset, member), size_of(member)};
  }

  /// The size of a structure of these members.
  std::uint64_t size_of_all(std::string_view members) const { return behind(members, 'p').offset; }

private:
  std::size_t size_of(char member) const {
    switch (member) {
    case 'q':
      return 8;
    case 'i':
      return 4;
    case 'h':
      return 2;
    case 'b':
      return 1;
    default:
      return static_cast<std::size_t>(platform_.pointer_size);
    }
  }

  std::uint64_t aligned(std::uint64_t offset, char member) const {
    const auto alignment = static_cast<std::uint64_t>(
        member == 'b' ? 1 : platform_.alignment_of(static_cast<int>(size_of(member))));
    return (offset + alignment - 1) / alignment * alignment;
  }

  const Platform& platform_;
};

void set_objects(PythonLayout& layout, const Places& places) {
  layout.type = places.behind("p", 'p');
  layout.size = places.behind("pp", 'p');
  layout.text_length = places.behind("pp", 'p');
  layout.text_state = places.behind("pppp", 'i');
  layout.bytes = places.size_of_all("pppp");
}

PythonLayout layout_3_9(const Places& places) {
  PythonLayout layout;
  set_objects(layout, places);
  layout.first_interpreter = places.behind("iiiipp", 'p');
  layout.next_interpreter = places.behind("", 'p');
  layout.first_thread = places.behind("p", 'p');
  layout.next_thread = places.behind("p", 'p');
  layout.interpreter = places.behind("pp", 'p');
  layout.frame = places.behind("ppp", 'p');
  layout.thread_id = places.behind("ppppiiiiipppppppppppppip", 'p');
  layout.previous = places.behind("ppp", 'p');
  layout.code = places.behind("pppp", 'p');
  layout.instruction = places.behind("pppppppppppbbp", 'i');
  layout.instruction_unit = 2;
  layout.first_line = places.behind("ppiiiiii", 'i');
  layout.file = places.behind("ppiiiiiiippppppp", 'p');
  layout.name = places.behind("ppiiiiiiipppppppp", 'p');
  layout.lines = places.behind("ppiiiiiiippppppppp", 'p');
  layout.line_table = LineTable::pairs;
  layout.ascii = places.size_of_all("ppppip");
  layout.other_text = places.size_of_all("ppppipppp");
  return layout;
}

PythonLayout layout_3_10(const Places& places) {
  PythonLayout layout = layout_3_9(places);
  layout.thread_id = places.behind("ppppiiiippppppppppppppip", 'p');
  layout.instruction = places.behind("ppppppppppibbp", 'i');
  layout.instruction_unit = 1;
  layout.line_table = LineTable::ranges;
  return layout;
}

PythonLayout layout_3_11(const Places& places) {
  PythonLayout layout;
  set_objects(layout, places);
  layout.first_interpreter = places.behind("iiiippp", 'p');
  layout.next_interpreter = places.behind("", 'p');
  layout.first_thread = places.behind("pq", 'p');
  layout.next_thread = places.behind("p", 'p');
  layout.interpreter = places.behind("pp", 'p');
  layout.frame = places.behind("pppiiiiiii", 'p');
  layout.frame_of_cframe = places.behind("b", 'p');
  layout.code = places.behind("pppp", 'p');
  layout.previous = places.behind("pppppp", 'p');
  layout.instruction = places.behind("ppppppp", 'p');
  layout.is_entry = places.behind("ppppppppi", 'b');
  layout.first_line = places.behind("ppppppiiiiii", 'i');
  layout.file = places.behind("ppppppiiiiiiiiiiiipp", 'p');
  layout.name = places.behind("ppppppiiiiiiiiiiiipppp", 'p');
  layout.lines = places.behind("ppppppiiiiiiiiiiiippppp", 'p');
  layout.instructions = places.size_of_all("ppppppiiiiiiiiiiiipppppppppip");
  layout.ascii = places.size_of_all("ppppip");
  layout.other_text = places.size_of_all("ppppipppp");
  return layout;
}

PythonLayout layout_3_12(const Places& places) {
  PythonLayout layout = layout_3_11(places);
  layout.first_thread = places.behind("pqqipiiqqq", 'p');
  layout.frame_of_cframe = places.behind("", 'p');
  layout.code = places.behind("", 'p');
  layout.previous = places.behind("p", 'p');
  layout.is_entry = {};
  layout.owner = places.behind("ppppppppih", 'b');
  layout.first_line = places.behind("ppppppiiiii", 'i');
  layout.instructions = places.size_of_all("ppppppiiiiiiiiiiiippppppppqpip");
  layout.ascii = places.size_of_all("ppppi");
  layout.other_text = places.size_of_all("ppppipp");
  return layout;
}

} // namespace

std::string python_release(std::uint64_t release) {
  return fmt::format("{}.{}", release >> 8, release & 0xff);
}

std::optional<PythonLayout> layout_of_python(std::uint64_t release, const Platform& platform) {
  const Places places(platform);
  switch (release) {
  case release_3_8:
  case release_3_9:
    return layout_3_9(places);
  case release_3_10:
    return layout_3_10(places);
  case release_3_11:
    return layout_3_11(places);
  case release_3_12:
    return layout_3_12(places);
  default:
    return std::nullopt;
  }
}

std::optional<PythonLayout> described_layout(std::span<const std::byte> runtime,
                                             const Platform& platform) {
  constexpr std::string_view cookie = "xdebugpy";
  if (runtime.size() < described_runtime ||
      !std::ranges::equal(runtime.first(cookie.size()), std::as_bytes(std::span(cookie))))
    return std::nullopt;
  const auto number = [&](std::size_t at) {
    constexpr std::size_t width = sizeof(std::uint64_t);
    return decode_unsigned(runtime.subspan(at * width, width), platform.byte_order);
  };
  const auto release = release_of(number(1));
  const bool free_threaded = number(2) != 0;
  if ((release != release_3_13 && release != release_3_14) || free_threaded)
    return std::nullopt;
  const Described& at = release == release_3_13 ? described_3_13 : described_3_14;
  bool sound = true;
  const auto offset = [&](std::size_t position) {
    sound = sound && number(position) <= Fields::max_structure;
    return number(position);
  };
  const auto pointer = [&](std::size_t position) {
    return Field{offset(position), static_cast<std::size_t>(platform.pointer_size)};
  };
  PythonLayout layout;
  layout.first_interpreter = pointer(at.first_interpreter);
  layout.next_interpreter = pointer(at.next_interpreter);
  layout.first_thread = pointer(at.first_thread);
  layout.next_thread = pointer(at.next_thread);
  layout.interpreter = pointer(at.interpreter);
  layout.frame = pointer(at.frame);
  layout.previous = pointer(at.previous);
  layout.code = pointer(at.code);
  layout.code_tags = release == release_3_13 ? 0 : 3;
  layout.instruction = pointer(at.instruction);
  layout.owner = {offset(at.owner), 1};
  layout.file = pointer(at.file);
  layout.name = pointer(at.name);
  layout.lines = pointer(at.lines);
  layout.first_line = {offset(at.first_line), 4};
  layout.instructions = offset(at.instructions);
  layout.type = pointer(at.type);
  layout.size = pointer(at.size);
  layout.bytes = offset(at.bytes);
  layout.text_state = {offset(at.text_state), 4};
  layout.text_length = pointer(at.text_length);
  layout.ascii = offset(at.ascii);
  layout.other_text = layout.ascii + 2 * static_cast<std::uint64_t>(platform.pointer_size);
  layout.notes_late = true;
  return sound ? std::optional(layout) : std::nullopt;
}

} // namespace mqbridge
