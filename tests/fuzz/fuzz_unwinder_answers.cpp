// What mqbridge-unwinder answers, as mqbridge reads it: it reads foreign files with foreign code,
// and may say anything. Input: a byte of flags, bytes of a thread's registers behind their length
// (2 bytes), then its messages, each behind its length; an honest beginning is said for it where
// the flags want one.

#include "host/elf/elf_file.h"
#include "host/limits.h"
#include "host/stacks/unwind_with.h"
#include "host/stacks/unwinder_wire.h"
#include "rsp/packet/printable.h"
#include "tests/fuzz/fuzz_input.h"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;
using wire::Encoder;
using wire::UnwinderKind;

constexpr std::uint64_t ready_is_said = 1;
constexpr std::uint64_t a_frame_is_said = 2;
constexpr std::size_t max_frames = 64;

Encoder message(UnwinderKind kind) {
  Encoder encoder;
  encoder.put(kind);
  return encoder;
}

/// Says what the fuzzer wrote, whatever it is asked, and then is dead.
class PlayedUnwinder final : public sandbox::Conversation {
public:
  PlayedUnwinder(std::vector<Encoder> first, FuzzInput& then)
      : first_(std::move(first)), then_(then) {}

  Result<void> send(const Encoder& message) override {
    require(message.message().size() <= wire::max_message);
    return {};
  }
  Result<void> send(const Encoder& message, const FileDescriptor& descriptor) override {
    require(static_cast<bool>(descriptor));
    return send(message);
  }
  void begin_answer() override {}
  Failure protocol_violation() override { return fail("stacks.protocol", "it makes no sense"); }

private:
  Result<std::span<const std::byte>> next_message() override {
    if (said_ < first_.size())
      return first_[said_++].message();
    if (then_.empty())
      return fail("stacks.crashed", "it has ended");
    return std::as_bytes(std::span(then_.take(then_.number(2))));
  }

  std::vector<Encoder> first_;
  std::size_t said_ = 0;
  FuzzInput& then_;
};

std::vector<Encoder> said_for_it(std::uint64_t flags) {
  std::vector<Encoder> first;
  if ((flags & (ready_is_said | a_frame_is_said)) != 0)
    first.push_back(message(UnwinderKind::ready));
  if ((flags & a_frame_is_said) != 0) {
    wire::PlainFrame frame;
    frame.address = 0x401000; // in the module
    first.push_back(std::move(message(UnwinderKind::frames).put(frame)));
    auto end = message(UnwinderKind::thread_end);
    end.put(StackEnd::outermost).put(false);
    first.push_back(std::move(end));
  }
  return first;
}

CapturedStacks captured(FuzzInput& input) {
  static constexpr std::array layouts = {RegisterLayout::gdb, RegisterLayout::kernel};
  CapturedStacks stacks;
  CapturedThread thread;
  thread.thread.layout = layouts[input.number(1) % layouts.size()];
  thread.thread.registers.emplace();
  for (const char byte : input.take(input.number(2)))
    thread.thread.registers->push_back(byte == 'x' ? std::nullopt : std::optional(std::byte(byte)));
  stacks.threads.push_back(std::move(thread));
  return stacks;
}

/// Fit to be shown on a terminal.
void check(const std::optional<std::string>& text) {
  require(!text || (readable(*text) == *text && text->size() <= 4 * wire::max_text));
}

void check(const UnwoundThread& thread) {
  require(thread.stack.frames.size() <= max_frames);
  require(thread.stack.frames.size() == thread.stack_pointers.size());
  for (const auto& frame : thread.stack.frames) {
    check(frame.function);
    check(frame.file);
    require(frame.line.value_or(1) >= 1 && frame.offset.value_or(0) >= 0);
  }
}

void play(std::span<const Image> images, FuzzInput& input) {
  static constexpr std::array architectures = {"x86_64", "i386",    "aarch64", "arm",
                                               "s390x",  "ppc",     "ppc64le", "riscv64",
                                               "mips",   "sparc64", "cris"};
  const auto flags = input.number(1);
  Platform platform;
  platform.architecture = architectures[input.number(1) % architectures.size()];
  const auto stacks = captured(input);
  PlayedUnwinder unwinder(said_for_it(flags), input);
  UnwindOptions options;
  options.max_frames = max_frames;
  Warnings warnings;
  const auto threads = unwind_with(unwinder, stacks, images, platform, options, warnings);
  if (!threads)
    return require(!threads.error().message.empty());
  require(threads->size() == 1);
  check(threads->front());
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  static const auto file = ElfFile::open("/proc/self/exe").value();
  static const std::vector<Image> images = {
      {.target_path = "/bin/x",
       .bias = {0x400000 - file->segments().front().address.value},
       .file = file}};
  test::FuzzInput input(data, size);
  play(images, input);
  return 0;
}
