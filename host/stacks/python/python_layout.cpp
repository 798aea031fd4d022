#include "host/stacks/python/python_layout.h"

#include "host/memory/reader.h"

#include <algorithm>
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

/// Where _Py_DebugOffsets has a member's offset, counted in numbers of 8 bytes: in 3.13, and
/// in 3.14.
struct Described {
  Field PythonLayout::*field;
  std::size_t at_3_13;
  std::size_t at_3_14;
  std::size_t size = 0; ///< of the member; 0: of a pointer
};
constexpr Described described_fields[] = {
    {&PythonLayout::first_interpreter, 5, 5},
    {&PythonLayout::next_interpreter, 8, 8},
    {&PythonLayout::first_thread, 9, 9},
    {&PythonLayout::next_thread, 21, 24},
    {&PythonLayout::interpreter, 22, 25},
    {&PythonLayout::frame, 23, 26},
    {&PythonLayout::previous, 29, 32},
    {&PythonLayout::code, 30, 33},
    {&PythonLayout::instruction, 31, 34},
    {&PythonLayout::owner, 33, 36, 1},
    {&PythonLayout::file, 35, 40},
    {&PythonLayout::name, 37, 42},
    {&PythonLayout::lines, 38, 43},
    {&PythonLayout::first_line, 39, 44, 4},
    {&PythonLayout::type, 45, 51},
    {&PythonLayout::size, 65, 75},
    {&PythonLayout::text_state, 68, 78, 4},
    {&PythonLayout::text_length, 69, 79},
};

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

/// What 3.8 to 3.11 have in common.
PythonLayout common_layout(const Places& places) {
  PythonLayout layout;
  layout.next_interpreter = places.behind("", 'p');
  layout.next_thread = places.behind("p", 'p');
  layout.interpreter = places.behind("pp", 'p');
  layout.type = places.behind("p", 'p');
  layout.size = places.behind("pp", 'p');
  layout.text_length = places.behind("pp", 'p');
  layout.text_state = places.behind("pppp", 'i');
  layout.ascii = places.size_of_all("ppppip");
  layout.other_text = places.size_of_all("ppppipppp");
  layout.bytes = places.size_of_all("pppp");
  return layout;
}

PythonLayout layout_3_9(const Places& places) {
  PythonLayout layout = common_layout(places);
  layout.first_interpreter = places.behind("iiiipp", 'p');
  layout.first_thread = places.behind("p", 'p');
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
  PythonLayout layout = common_layout(places);
  layout.first_interpreter = places.behind("iiiippp", 'p');
  layout.first_thread = places.behind("pq", 'p');
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
  const bool is_3_13 = release == release_3_13;
  bool sound = true;
  const auto offset = [&](std::size_t position) {
    sound = sound && number(position) <= Fields::max_structure;
    return number(position);
  };
  PythonLayout layout;
  const auto pointer = static_cast<std::size_t>(platform.pointer_size);
  for (const auto& [field, at_3_13, at_3_14, size] : described_fields)
    layout.*field = {offset(is_3_13 ? at_3_13 : at_3_14), size != 0 ? size : pointer};
  layout.code_tags = is_3_13 ? 0 : 3;
  layout.instructions = offset(is_3_13 ? 43 : 48);
  layout.bytes = offset(is_3_13 ? 66 : 76);
  layout.ascii = offset(is_3_13 ? 70 : 80);
  layout.other_text = layout.ascii + 2 * pointer;
  layout.notes_late = true;
  return sound ? std::optional(layout) : std::nullopt;
}

} // namespace mqbridge
