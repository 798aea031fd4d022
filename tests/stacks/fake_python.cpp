#include "tests/stacks/fake_python.h"

#include <algorithm>

namespace mqbridge {
namespace {

constexpr std::uint64_t entry_variable = 0x70100; ///< on the C stack, as the next one
constexpr std::uint64_t outer_variable = 0x70200;

Platform platform_of(ByteOrder order, DataModel model, int int64_alignment) {
  Platform platform;
  platform.byte_order = order;
  platform.set_data_model(model);
  platform.int64_alignment = int64_alignment;
  return platform;
}

std::vector<PythonCase> made_cases() {
  constexpr PythonOffsets of_3_11 = {40, 16,  8,   16,  56,  8,  32, 48, 56, 68, 16,
                                     72, 112, 128, 136, 184, 16, 32, 48, 72, 32};
  constexpr PythonOffsets of_3_12 = {40, 72,  8,   16,  56,  0,  0,  8,  56, 70, 16,
                                     68, 112, 128, 136, 192, 16, 32, 40, 56, 32};
  constexpr PythonOffsets small_3_11 = {28, 12, 4,  8,  40,  4, 16, 24, 28, 36, 8,
                                        48, 80, 88, 92, 116, 8, 16, 24, 36, 16};
  constexpr PythonOffsets small_3_12 = {28, 60, 4,  8,  40,  0, 0,  4,  28, 38, 8,
                                        44, 80, 88, 92, 124, 8, 16, 20, 28, 16};
  // Where an integer of 8 bytes is aligned to 8, as on ARM.
  PythonOffsets arm_3_11 = small_3_11;
  arm_3_11.first_thread = 16;
  PythonOffsets arm_3_12 = small_3_12;
  arm_3_12.first_thread = 64;
  const auto le64 = platform_of(ByteOrder::little, DataModel::lp64, 8);
  const auto be64 = platform_of(ByteOrder::big, DataModel::lp64, 8);
  const auto i386 = platform_of(ByteOrder::little, DataModel::ilp32, 4);
  const auto be32 = platform_of(ByteOrder::big, DataModel::ilp32, 8);
  return {{"le64_11", 0x030b, le64, of_3_11},    {"be64_11", 0x030b, be64, of_3_11},
          {"i386_11", 0x030b, i386, small_3_11}, {"be32_11", 0x030b, be32, arm_3_11},
          {"le64_12", 0x030c, le64, of_3_12},    {"be64_12", 0x030c, be64, of_3_12},
          {"i386_12", 0x030c, i386, small_3_12}, {"be32_12", 0x030c, be32, arm_3_12}};
}

} // namespace

void PrintTo(const PythonCase& one, std::ostream* out) {
  *out << one.name;
}

const std::vector<PythonCase>& python_cases() {
  static const auto cases = made_cases();
  return cases;
}

FakePython::FakePython(const PythonCase& is) : is_(is) {
  const PythonOffsets& at = is_.offsets;
  word(interpreter, 0, 0);
  word(interpreter, at.first_thread, state);
  word(state, at.next_thread, 0);
  word(state, at.its_interpreter, interpreter);
  word(state, at.cframe, cframe);
  word(cframe, at.frame_of_cframe, frames);
  add_code(0, {'i', 'n', 'n', 'e', 'r'});
  add_code(1, {'c', 'a', 'f', 0xe9});
  add_code(2, {'<', 'm', 'o', 'd', 'u', 'l', 'e', '>'});
  if (is_.release == 0x030b) {
    add_frame(frames, 0, frames + 0x100, 2, 0);
    add_frame(frames + 0x100, 1, frames + 0x200, 1, 1);
    add_frame(frames + 0x200, 2, 0, 0, 1);
  } else {
    add_frame(frames, 0, frames + 0x100, 2, 0);
    add_frame(frames + 0x100, 1, entry_variable, 1, 0);
    add_frame(entry_variable, 1, frames + 0x200, 0, 3);
    add_frame(frames + 0x200, 2, outer_variable, 0, 0);
    add_frame(outer_variable, 1, 0, 0, 3);
  }
}

Result<PythonThreads> FakePython::read(Memory& from) const {
  ImageSet images({});
  const AddressSpace space{images, from, is_.platform};
  return read_python(space, *layout_of_python(is_.release, is_.platform), interpreter, types);
}

void FakePython::put(std::uint64_t address, std::uint64_t value, std::size_t size) {
  memory.put_integer({address}, value, size, is_big());
  put_there.emplace_back(address, size);
}

void FakePython::word(std::uint64_t base, int offset, std::uint64_t value) {
  put(base + static_cast<std::uint64_t>(offset), value,
      static_cast<std::size_t>(is_.platform.pointer_size));
}

/// In ASCII, else in letters of 1 byte where that is enough.
void FakePython::add_text(std::uint64_t at, const std::vector<std::uint32_t>& letters) {
  const std::uint32_t most = *std::ranges::max_element(letters);
  const bool ascii = most < 0x80;
  const std::uint32_t width = most < 0x100 ? 1 : most < 0x10000 ? 2 : 4;
  word(at, is_.platform.pointer_size, types.text.value);
  word(at, is_.offsets.length, letters.size());
  const std::uint32_t bits = is_big() ? width << 27 | 1U << 26 | (ascii ? 1U << 25 : 0)
                                      : width << 2 | 1U << 5 | (ascii ? 1U << 6 : 0);
  put(at + static_cast<std::uint64_t>(is_.offsets.state), bits, 4);
  auto place = at + static_cast<std::uint64_t>(ascii ? is_.offsets.ascii : is_.offsets.other);
  for (const auto letter : letters) {
    memory.put_integer({place}, letter, width, is_big());
    place += width;
  }
  memory.put_integer({place}, 0, width, is_big());
}

void FakePython::add_code(std::uint64_t index, const std::vector<std::uint32_t>& name) {
  const auto at = codes + 0x400 * index;
  const auto name_at = texts + 0x400 * index;
  const auto file_at = name_at + 0x200;
  const auto table_at = tables + 0x100 * index;
  word(at, is_.platform.pointer_size, types.code.value);
  word(at, is_.offsets.size, 4);
  put(at + static_cast<std::uint64_t>(is_.offsets.first_line), 1, 4);
  word(at, is_.offsets.file, file_at);
  word(at, is_.offsets.name, name_at);
  word(at, is_.offsets.lines, table_at);
  add_text(name_at, name);
  constexpr std::uint32_t first[] = {'a', 0x444, 0x1f40d}; // letters of 1, 2 and 4 bytes
  add_text(file_at, {first[index], '.', 'p', 'y'});
  // Two instructions each of the first line, and of the one after it.
  word(table_at, is_.platform.pointer_size, types.bytes.value);
  word(table_at, is_.offsets.size, 4);
  memory.put({table_at + static_cast<std::uint64_t>(is_.offsets.bytes)},
             {0x81, 0x00, 0x80 | 11 << 3 | 1, 0x00, 0x00});
}

void FakePython::add_frame(std::uint64_t at, std::uint64_t code, std::uint64_t previous,
                           std::uint64_t instruction, std::uint64_t end) {
  const auto code_at = codes + 0x400 * code;
  word(at, is_.offsets.code, code_at);
  word(at, is_.offsets.previous, previous);
  word(at, is_.offsets.instruction,
       code_at + static_cast<std::uint64_t>(is_.offsets.instructions) + 2 * instruction);
  put(at + static_cast<std::uint64_t>(is_.offsets.end), end, 1);
}

} // namespace mqbridge
