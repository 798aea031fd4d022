// Stubs that break off, refuse or lie in the middle of a capture: it ends, and says why.

#include "host/process/live/live_process.h"
#include "host/stacks/capture.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/connected.h"
#include "tests/support/stub_memory.h"
#include "tests/support/temp_directory.h"

#include <atomic>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using test::Answer;

constexpr std::uint64_t stack = 0x20000;
constexpr std::size_t stub_stack_size = 0x4000;
constexpr std::uint64_t pointers[] = {stack + 0x1000, stack + 0x3000};

/// x86_64's registers up to orig_rax, with that stack pointer.
std::string registers_at(std::uint64_t pointer) {
  std::string digits(2 * std::size_t{544}, '0');
  for (std::size_t i = 0; i < 8; ++i)
    digits.replace(2 * (56 + i), 2, fmt::format("{:02x}", pointer >> (8 * i) & 0xff));
  return digits;
}

/// What becomes of a capture of two threads, where the `bad` request from its beginning on is
/// answered by `instead`.
class Tampered {
public:
  struct Outcome {
    std::optional<Error> error = {};
    std::vector<std::string> warnings = {};
    std::size_t requests = 0; ///< of the capture
  };

  static Outcome capture(std::optional<std::size_t> bad, const Answer& instead) {
    const test::TempDirectory directory;
    test::ElfBuilder builder(test::elf_shapes[0]);
    builder.add_data("data");
    builder.write(directory / "program");
    test::StubMemory memory;
    memory.put(test::ElfBuilder::base, builder.bytes());
    memory.put(stack, test::pattern(stack, stub_stack_size));
    test::ScriptedStub stub;
    std::atomic<std::size_t> begun = SIZE_MAX;
    std::atomic<std::size_t> seen = 0;
    stub.serve_objects({{"threads:", "<threads><thread id='p1.1'/><thread id='p1.2'/></threads>"}});
    memory.serve(stub, test::AtHole::refuse, test::BinaryForm::none, 0x2000);
    std::string selected;
    stub.on("?", Answer::packet("T05thread:p1.1;")).on("D", Answer::packet("OK"));
    stub.on("Hg", [&](std::string_view payload) {
      selected = payload.substr(2);
      return Answer::packet("OK");
    });
    stub.on("g", [&](std::string_view) {
      return Answer::packet(registers_at(pointers[selected == "p1.1" ? 0 : 1]));
    });
    stub.tamper([&](std::size_t index, std::string_view payload, Answer honest) {
      seen = index + 1;
      const bool is_hit = bad && begun != SIZE_MAX && index == begun + *bad && payload[0] != 'D';
      return is_hit ? instead : honest;
    });
    return run(stub, directory / "program", seen, begun);
  }

private:
  static Outcome run(test::ScriptedStub& stub, const std::filesystem::path& program,
                     const std::atomic<std::size_t>& seen, std::atomic<std::size_t>& begun) {
    ElfCache files{FilePaths{}};
    const auto client = test::connected(stub);
    const auto attachment = rsp::attach(*client);
    auto process = StoppedProcess::open(std::make_unique<LiveProcess>(*client, *attachment), files,
                                        {.images = {{program, {0}}}});
    Warnings warnings;
    if (!process || !(*process)->load_images(warnings))
      return {Error{"test", "not opened", ""}};
    begun = seen.load();
    const auto captured = capture_stacks(**process, {});
    Outcome outcome;
    outcome.requests = seen - begun;
    if (!captured)
      outcome.error = captured.error();
    else
      for (const auto& warning : captured->warnings)
        outcome.warnings.emplace_back(warning.code);
    return outcome;
  }
};

TEST(TamperedCapture, HonestItIsWhole) {
  const auto outcome = Tampered::capture({}, {});
  EXPECT_FALSE(outcome.error) << outcome.error->message;
  EXPECT_THAT(outcome.warnings, testing::IsEmpty());
  EXPECT_GE(outcome.requests, 7U);
}

TEST(TamperedCapture, AConnectionLostAtAnyRequestIsAnError) {
  const auto requests = Tampered::capture({}, {}).requests;
  for (std::size_t bad = 0; bad < requests; ++bad) {
    const auto outcome = Tampered::capture(bad, Answer::close());
    ASSERT_TRUE(outcome.error) << bad;
    EXPECT_EQ(outcome.error->code, "stub.closed") << bad;
  }
}

TEST(TamperedCapture, ARefusalOfAnyRequestEndsItWithAWord) {
  const auto requests = Tampered::capture({}, {}).requests;
  for (std::size_t bad = 0; bad < requests; ++bad) {
    const auto begun = std::chrono::steady_clock::now();
    const auto outcome = Tampered::capture(bad, Answer::packet("E01"));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s) << bad;
    EXPECT_FALSE(outcome.error && outcome.error->hint.empty()) << outcome.error->code;
  }
}

/// Of the list, of the first registers, and of the first stack.
TEST(TamperedCapture, GarbageEndsItSoon) {
  for (const std::size_t bad : {0, 2, 6}) {
    const auto begun = std::chrono::steady_clock::now();
    (void)Tampered::capture(bad, Answer::packet("m0x,,zz<threads>"));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s) << bad;
  }
}

} // namespace
} // namespace mqbridge
