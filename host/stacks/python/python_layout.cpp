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
  bool sound = release_of(number(1)) == release_3_13;
  const auto offset = [&](std::size_t at) {
    sound = sound && number(at) <= Fields::max_structure;
    return number(at);
  };
  const auto pointer = [&](std::size_t at) {
    return Field{offset(at), static_cast<std::size_t>(platform.pointer_size)};
  };
  PythonLayout layout;
  const bool free_threaded = number(2) != 0;
  layout.first_interpreter = pointer(5);
  layout.next_interpreter = pointer(8);
  layout.first_thread = pointer(9);
  layout.next_thread = pointer(21);
  layout.interpreter = pointer(22);
  layout.frame = pointer(23);
  layout.previous = pointer(29);
  layout.code = pointer(30);
  layout.instruction = pointer(31);
  layout.owner = {offset(33), 1};
  layout.file = pointer(35);
  layout.name = pointer(37);
  layout.lines = pointer(38);
  layout.first_line = {offset(39), 4};
  layout.instructions = offset(43);
  layout.type = pointer(45);
  layout.size = pointer(65);
  layout.bytes = offset(66);
  layout.text_state = {offset(68), 4};
  layout.text_length = pointer(69);
  layout.ascii = offset(70);
  layout.other_text = layout.ascii + 2 * static_cast<std::uint64_t>(platform.pointer_size);
  layout.notes_late = true;
  return sound && !free_threaded ? std::optional(layout) : std::nullopt;
}

} // namespace mqbridge
