// Stacks of threads that a test makes up: word sizes and byte orders, what is left out, what
// cannot be read, and what is said of it.

#include "host/stacks/capture.h"
#include "host/stacks/capture_plan.h"
#include "tests/builders/elf_builder.h"
#include "tests/support/fake_memory.h"
#include "tests/support/temp_directory.h"

#include <gmock/gmock.h>
#include <map>

namespace mqbridge {
namespace {

using test::ElfShape;
using testing::HasSubstr;

constexpr std::uint64_t bias = 0x40000;
constexpr std::uint64_t stacks = 0x10000000; ///< the first one; each has a MiB
constexpr std::uint64_t stack_size = 0x100000;

/// Where a thread's registers stand in a reply to `g` (GDB's target descriptions).
struct Registers {
  std::size_t bytes;
  std::size_t stack_pointer;
};
const std::map<std::string, Registers> registers_of = {
    {"x86_64", {544, 56}}, {"s390x", {344, 136}}, {"i386", {308, 16}}, {"ppc", {500, 4}}};

/// A process of which a test says everything.
class FakeSource final : public ProcessSource {
public:
  struct State {
    FakeMemory memory;
    std::vector<ProcessThread> threads;
    MemoryMap map;
    rsp::LinkEstimate link{1e-3, 100e6};
    bool is_alive = true;
    bool told_map = false;
    std::size_t most_registers = 0; ///< as it was asked last
    std::optional<Error> thread_error = {};
  };
  explicit FakeSource(State& state) : state_(state) {}

  const std::string& name() const override { return name_; }
  bool is_alive() const override { return state_.is_alive; }
  std::int64_t pid() const override { return 1; }
  bool has_real_pid() const override { return true; }
  Memory& memory() override { return state_.memory; }
  rsp::LinkEstimate link_estimate() const override { return state_.link; }
  Result<std::optional<std::string>> executable() override { return std::optional<std::string>(); }
  Result<std::optional<std::string>> auxiliary_vector() override {
    return std::optional<std::string>();
  }
  Result<std::string> architecture() override { return std::string(); }
  Result<std::optional<std::vector<LoadedObject>>> loaded_objects(std::uint64_t) override {
    return std::optional<std::vector<LoadedObject>>();
  }
  Result<std::string> environment() override { return std::string(); }
  Result<std::vector<ProcessThread>> threads(std::size_t most_registers) override {
    state_.most_registers = most_registers;
    if (state_.thread_error)
      return Failure(*state_.thread_error);
    return state_.threads;
  }
  std::optional<MemoryMap> take_new_map(const Platform&) override {
    return std::exchange(state_.told_map, true) ? std::nullopt : std::optional(state_.map);
  }
  Result<void> release() override { return {}; }

private:
  State& state_;
  std::string name_ = "fake";
};

class CaptureOf : public testing::TestWithParam<ElfShape> {
protected:
  void SetUp() override {
    test::ElfBuilder builder(shape_);
    builder.add_data(std::string(256, 'd'));
    builder.write(directory_ / "library");
    const auto bytes = builder.bytes();
    state_.memory.put({test::ElfBuilder::base + bias}, {bytes.begin(), bytes.end()});
    state_.map.complete = true;
  }

  bool is_big() const { return shape_.byte_order == ByteOrder::big; }
  std::size_t word() const { return static_cast<std::size_t>(shape_.word()); }
  static std::uint64_t base_of(std::size_t thread) { return stacks + thread * 2 * stack_size; }
  static std::uint64_t end_of(std::size_t thread) { return base_of(thread) + stack_size; }

  /// A thread whose stack has `used` bytes, each the low byte of its address. Returns its pointer.
  std::uint64_t add_thread(std::uint64_t used) {
    const auto index = state_.threads.size();
    const auto pointer = end_of(index) - used;
    std::vector<std::uint8_t> bytes(stack_size);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(i);
    state_.memory.put({base_of(index)}, std::move(bytes));
    state_.map.ranges.push_back({{base_of(index)}, {end_of(index) - 1}, true, true});
    ProcessThread thread;
    thread.tid = static_cast<std::int64_t>(100 + index);
    const auto& place = registers_of.at(shape_.architecture);
    thread.registers.emplace(place.bytes, std::byte{0});
    for (std::size_t i = 0; i < word(); ++i)
      (*thread.registers)[place.stack_pointer + (is_big() ? word() - 1 - i : i)] =
          static_cast<std::byte>(pointer >> (8 * i));
    state_.threads.push_back(std::move(thread));
    return pointer;
  }

  /// A word of the platform's on a stack.
  void put_word(std::uint64_t address, std::uint64_t value) {
    std::vector<std::uint8_t> bytes(word());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[is_big() ? bytes.size() - 1 - i : i] = static_cast<std::uint8_t>(value >> (8 * i));
    state_.memory.change({address}, bytes);
  }

  CapturedStacks capture(CaptureOptions options = {}) {
    auto process = StoppedProcess::open(std::make_unique<FakeSource>(state_), files_,
                                        {.images = {{directory_ / "library", {bias}}}});
    EXPECT_TRUE(process) << process.error().message;
    Warnings warnings;
    EXPECT_TRUE((*process)->load_images(warnings));
    options.mpi_library = &(*process)->images().images().front();
    before_ = state_.memory.calls;
    auto captured = capture_stacks(**process, options);
    if (!captured) {
      error_ = captured.error();
      return {};
    }
    return std::move(*captured);
  }

  std::vector<std::string> codes(const CapturedStacks& captured) {
    std::vector<std::string> all;
    for (const auto& warning : captured.warnings) {
      all.emplace_back(warning.code);
      EXPECT_FALSE(warning.hint.empty()) << warning.code;
    }
    return all;
  }
  int calls() const { return state_.memory.calls - before_; }

  const ElfShape shape_ = GetParam();
  test::TempDirectory directory_;
  ElfCache files_{FilePaths{}};
  FakeSource::State state_;
  std::optional<Error> error_;

private:
  int before_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shapes, CaptureOf, testing::ValuesIn(test::elf_shapes),
                         [](const auto& of) { return of.param.architecture; });

std::uint64_t size_of(const CapturedThread& thread) {
  return thread.captured_to.value - thread.stack_pointer;
}

TEST_P(CaptureOf, ThreadsInTheMpiHaveMoreOfTheirStacks) {
  const auto in_mpi = add_thread(600 << 10);
  const auto elsewhere = add_thread(600 << 10);
  const auto shallow = add_thread(1000);
  put_word(in_mpi + 1024, test::ElfBuilder::base + bias + 16);
  // Not aligned, and not in the first 4 KiB: neither says that a thread is in the MPI.
  put_word(elsewhere + 1025, test::ElfBuilder::base + bias + 16);
  put_word(elsewhere + 8192, test::ElfBuilder::base + bias + 16);
  const auto captured = capture();
  EXPECT_EQ(calls(), 2) << "bursts";
  ASSERT_EQ(captured.threads.size(), 3U);
  EXPECT_EQ(captured.threads[0].stack_pointer, in_mpi);
  EXPECT_EQ(captured.threads[2].stack_pointer, shallow);
  EXPECT_NEAR(static_cast<double>(size_of(captured.threads[0])),
              static_cast<double>(most_of_stack_in_mpi), 200);
  EXPECT_TRUE(captured.threads[0].cut);
  EXPECT_NEAR(static_cast<double>(size_of(captured.threads[1])),
              static_cast<double>(most_of_other_stack), 200);
  EXPECT_TRUE(captured.threads[1].cut);
  EXPECT_EQ(size_of(captured.threads[2]), 1000U);
  EXPECT_FALSE(captured.threads[2].cut);
  EXPECT_THAT(codes(captured), testing::IsEmpty());
  std::array<std::byte, 3> bytes{};
  ASSERT_TRUE(captured.pages->copy(shallow, bytes));
  EXPECT_EQ(bytes[1], std::byte(shallow + 1));
}

TEST_P(CaptureOf, ASlowLinkCutsThemAndItIsSaid) {
  add_thread(100 << 10);
  const auto in_mpi = add_thread(100 << 10);
  put_word(in_mpi + 64, test::ElfBuilder::base + bias);
  state_.link = {0.01, 400e3};
  const auto captured = capture({.patience = std::chrono::milliseconds(50)});
  EXPECT_THAT(codes(captured), testing::ElementsAre("stacks.cut"));
  EXPECT_TRUE(captured.threads[0].cut && captured.threads[1].cut);
  EXPECT_GT(size_of(captured.threads[1]), size_of(captured.threads[0]));
  EXPECT_LE(size_of(captured.threads[0]) + size_of(captured.threads[1]), 20'000U);
}

TEST_P(CaptureOf, WithMaxStopNearLessIsReadThanLinkAndPatienceAllow) {
  for (int i = 0; i < 20; ++i)
    add_thread(30 << 10);
  state_.link = {0.001, 4e6};
  const auto captured =
      capture({.patience = std::chrono::hours(1),
               .deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100)});
  EXPECT_THAT(codes(captured), testing::ElementsAre("stacks.cut"));
}

TEST_P(CaptureOf, AReadThatFailsIsNoEndOfAStack) {
  const auto pointer = add_thread(20000);
  const auto hole = end_of(0) - 8192;
  state_.memory.leave_out({hole}, {hole + 4095});
  const auto captured = capture();
  EXPECT_EQ(captured.threads[0].captured_to.value, hole);
  EXPECT_EQ(captured.threads[0].stack_pointer, pointer);
  EXPECT_TRUE(captured.threads[0].cut);
  EXPECT_THAT(codes(captured), testing::ElementsAre("stacks.unreadable"));
}

TEST_P(CaptureOf, WithoutAMapAStackEndsWhereNothingCanBeRead) {
  add_thread(20000);
  add_thread(20000);
  state_.map = {};
  const auto hole = end_of(1) - 8192;
  state_.memory.leave_out({hole}, {hole + 4095}); // which a core might have had
  const auto captured = capture();
  EXPECT_EQ(size_of(captured.threads[0]), 20000U);
  EXPECT_FALSE(captured.threads[0].cut);
  EXPECT_TRUE(captured.threads[1].cut);
  EXPECT_THAT(codes(captured), testing::ElementsAre("stacks.unreadable"));
}

TEST_P(CaptureOf, AThreadWithoutRegistersHasNoStackAndIsCounted) {
  add_thread(500);
  add_thread(500);
  state_.threads[0].registers.reset();
  const auto captured = capture();
  ASSERT_EQ(captured.threads.size(), 2U);
  EXPECT_EQ(captured.threads[0].stack_pointer, 0U);
  EXPECT_EQ(size_of(captured.threads[0]), 0U);
  EXPECT_EQ(size_of(captured.threads[1]), 500U);
  EXPECT_THAT(codes(captured), testing::ElementsAre("stacks.no_registers"));
  EXPECT_THAT(captured.warnings.front().message, HasSubstr("1 of 2"));
}

TEST_P(CaptureOf, RegistersThatPointNowhereBringNothing) {
  add_thread(500);
  state_.map.ranges.clear();
  const auto captured = capture();
  EXPECT_EQ(size_of(captured.threads[0]), 0U);
  EXPECT_FALSE(captured.threads[0].cut);
  EXPECT_EQ(calls(), 0);
}

TEST_P(CaptureOf, OfAThousandThreadsSomeHaveRegisters) {
  state_.threads.resize(1000);
  const auto captured = capture();
  EXPECT_EQ(state_.most_registers, most_captured_threads);
  EXPECT_EQ(captured.threads.size(), 1000U);
  EXPECT_THAT(codes(captured), testing::ElementsAre("stacks.threads"));
}

TEST_P(CaptureOf, ASourceWithoutThreadsIsAnError) {
  state_.thread_error = Error{"threads.unsupported", "no", "line"};
  capture();
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->code, "threads.unsupported");
}

} // namespace
} // namespace mqbridge
