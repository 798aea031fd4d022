#include "host/stacks/python/read_python.h"

#include "host/process/structures.h"
#include "host/stacks/python/line_table.h"
#include "host/stacks/python/python_text.h"
#include "host/stacks/python/raw_frames.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::uint64_t most_instructions = 1 << 24; ///< of a function
constexpr std::uint64_t most_letters = 16 << 10;     ///< of a text; further ones are cut
constexpr std::uint64_t most_line_bytes = 4 << 20;   ///< of a function's table
constexpr std::uint64_t most_content = 32 << 20;     ///< of all texts and tables
constexpr std::uint64_t instruction_bytes = 2;

/// The code of Python's functions: their names, files and lines.
class PythonCode {
public:
  PythonCode(const AddressSpace& space, const PythonLayout& layout, const PythonTypes& types)
      : space_(space), layout_(layout), types_(types) {}

  /// Reads all that frame_of() needs of the code objects at these addresses, in three steps.
  /// Objects that are damaged are left out. Errors: those of Memory.
  Result<void> read(const std::set<std::uint64_t>& addresses);

  /// nullopt: its code is not known, or the instruction is not in it.
  std::optional<PythonFrame> frame_of(const RawFrame& raw) const;

private:
  struct Code {
    std::uint64_t count = 0; ///< of its instructions; not known where frames are objects
    std::int64_t first_line = 0;
    std::uint64_t file = 0; ///< addresses, as the next two
    std::uint64_t name = 0;
    std::uint64_t lines = 0;
  };
  /// What an object has behind its structure.
  struct Content {
    std::uint64_t address = 0;
    std::size_t width = 1; ///< bytes of a letter
    bool cut = false;      ///< further letters were left out
    std::vector<std::byte> bytes = {};
  };

  Result<void> read_codes(const std::set<std::uint64_t>& addresses);
  Result<void> find_contents();
  Result<void> read_contents();
  void add_content(std::uint64_t object, const Words& words);
  /// Removes what stands behind the last letter. False: that is not what should stand there.
  static bool take_end(Content& content);
  std::optional<std::string> text_at(std::uint64_t object) const;
  /// The number of the instruction; nullopt: there is none, as before the first one.
  std::optional<std::uint64_t> number_of(const RawFrame& raw) const;

  const AddressSpace& space_;
  const PythonLayout& layout_;
  const PythonTypes& types_;
  std::map<std::uint64_t, Code> codes_;       ///< by address
  std::map<std::uint64_t, Content> contents_; ///< by the object's address
  std::uint64_t bytes_ = 0;
};

Result<void> PythonCode::read(const std::set<std::uint64_t>& addresses) {
  if (auto done = read_codes(addresses); !done)
    return done;
  if (auto done = find_contents(); !done)
    return done;
  return read_contents();
}

Result<void> PythonCode::read_codes(const std::set<std::uint64_t>& addresses) {
  const std::vector<std::uint64_t> codes(addresses.begin(), addresses.end());
  const auto words = Words::of(
      codes,
      {layout_.type, layout_.size, layout_.first_line, layout_.file, layout_.name, layout_.lines},
      space_);
  if (!words)
    return Failure(words.error());
  for (const std::uint64_t at : codes) {
    const auto count = words->get(at, layout_.size);
    const auto first_line = words->get(at, layout_.first_line);
    const auto file = words->get(at, layout_.file);
    const auto name = words->get(at, layout_.name);
    const auto lines = words->get(at, layout_.lines);
    if (words->get(at, layout_.type) == types_.code.value && count && first_line && file && name &&
        lines)
      codes_[at] = {*count, static_cast<std::int32_t>(*first_line), *file, *name, *lines};
  }
  return {};
}

Result<void> PythonCode::find_contents() {
  std::vector<std::uint64_t> objects;
  for (const auto& [at, code] : codes_)
    objects.insert(objects.end(), {code.file, code.name, code.lines});
  const auto words = Words::of(
      objects, {layout_.type, layout_.size, layout_.text_length, layout_.text_state}, space_);
  if (!words)
    return Failure(words.error());
  for (const std::uint64_t object : objects)
    if (!contents_.contains(object))
      add_content(object, *words);
  return {};
}

void PythonCode::add_content(std::uint64_t object, const Words& words) {
  const auto type = words.get(object, layout_.type);
  const auto add = [&](Content content, std::uint64_t size) {
    if (size > most_content - bytes_)
      return;
    bytes_ += size;
    content.bytes.resize(size);
    contents_.emplace(object, std::move(content));
  };
  if (type == types_.text.value) {
    const auto length = words.get(object, layout_.text_length);
    const auto state = words.get(object, layout_.text_state);
    const auto form = state ? python_text(*state, space_.platform.byte_order) : std::nullopt;
    if (!length || !form)
      return;
    // A zero stands behind the last letter, and behind the last byte of bytes: a damaged length is
    // known by that.
    const auto letters = std::min(*length, most_letters);
    add({object + (form->ascii ? layout_.ascii : layout_.other_text), form->width,
         letters < *length},
        (letters + 1) * form->width);
  } else if (type == types_.bytes.value) {
    if (const auto size = words.get(object, layout_.size); size && *size <= most_line_bytes)
      add({object + layout_.bytes}, *size + 1);
  }
}

Result<void> PythonCode::read_contents() {
  std::vector<MemoryRange> ranges;
  for (auto& [object, content] : contents_)
    ranges.push_back({{content.address}, content.bytes});
  if (auto done = space_.memory.read_ranges(ranges); !done)
    return done;
  auto range = ranges.begin();
  for (auto at = contents_.begin(); at != contents_.end(); ++range) {
    const bool is_whole = range->read == range->into.size() && take_end(at->second);
    at = is_whole ? std::next(at) : contents_.erase(at);
  }
  return {};
}

bool PythonCode::take_end(Content& content) {
  const auto end = std::span(content.bytes).last(content.width);
  const bool is_zero = std::ranges::all_of(end, [](std::byte byte) { return byte == std::byte{}; });
  content.bytes.resize(content.bytes.size() - content.width);
  return is_zero || content.cut;
}

std::optional<std::string> PythonCode::text_at(std::uint64_t object) const {
  const auto found = contents_.find(object);
  if (found == contents_.end())
    return std::nullopt;
  const Content& content = found->second;
  auto text = utf8_of(content.bytes, content.width, space_.platform.byte_order);
  return content.cut ? text + "..." : text;
}

std::optional<std::uint64_t> PythonCode::number_of(const RawFrame& raw) const {
  if (layout_.instruction_unit != 0) {
    const auto number = static_cast<std::int32_t>(raw.instruction);
    return number < 0
               ? std::nullopt
               : std::optional(static_cast<std::uint64_t>(number) / layout_.instruction_unit);
  }
  const auto first = raw.code + layout_.instructions;
  return raw.instruction < first ? std::nullopt
                                 : std::optional((raw.instruction - first) / instruction_bytes);
}

std::optional<PythonFrame> PythonCode::frame_of(const RawFrame& raw) const {
  const auto found = codes_.find(raw.code);
  if (found == codes_.end())
    return std::nullopt;
  const Code& code = found->second;
  auto function = text_at(code.name);
  auto file = text_at(code.file);
  const auto number = number_of(raw);
  const auto count =
      layout_.instruction_unit != 0 ? most_instructions : std::min(code.count, most_instructions);
  // Before its first instruction a frame is one in front of it.
  const bool before = layout_.instruction_unit != 0 ||
                      raw.instruction == raw.code + layout_.instructions - instruction_bytes;
  if (!function || !file || (number ? *number > count : !before))
    return std::nullopt;
  PythonFrame made{std::move(*function), std::move(*file)};
  if (const auto lines = contents_.find(code.lines); number && lines != contents_.end())
    made.line =
        line_of_instruction(layout_.line_table, lines->second.bytes, code.first_line, *number);
  return made;
}

/// nullopt: a frame of it is damaged.
std::optional<PythonThread> made_of(const RawThread& raw, const PythonCode& code) {
  PythonThread made;
  made.thread_id = raw.thread_id;
  for (const RawCall& raw_call : raw.calls) {
    PythonCall& call = made.calls.emplace_back();
    call.on_stack = raw_call.on_stack;
    for (const RawFrame& raw_frame : raw_call.frames) {
      auto frame = code.frame_of(raw_frame);
      if (!frame)
        return std::nullopt;
      call.frames.push_back(std::move(*frame));
    }
  }
  return made;
}

} // namespace

Result<PythonThreads> read_python(const AddressSpace& space, const PythonLayout& layout,
                                  std::uint64_t interpreter, const PythonTypes& types) {
  auto raw = read_raw_frames(space, layout, interpreter, types.frame);
  if (!raw)
    return forward(std::move(raw));
  std::set<std::uint64_t> codes;
  for (const RawThread& thread : raw->threads)
    for (const RawCall& call : thread.calls)
      for (const RawFrame& frame : call.frames)
        codes.insert(frame.code);
  PythonCode code(space, layout, types);
  if (auto done = code.read(codes); !done)
    return forward(std::move(done));
  PythonThreads found;
  found.lost = raw->lost;
  for (const RawThread& thread : raw->threads)
    if (auto made = made_of(thread, code))
      found.threads.push_back(std::move(*made));
    else
      ++found.lost;
  return found;
}

} // namespace mqbridge
