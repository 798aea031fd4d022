#include "host/stacks/python/merge_python.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* evaluator = "_PyEval_EvalFrameDefault";

/// A thread whose frames have 0x100 bytes of stack each.
UnwoundThread thread_of(std::int64_t number, std::uint64_t stack,
                        const std::vector<std::string>& functions) {
  UnwoundThread thread;
  thread.stack.thread = number;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    StackFrame& frame = thread.stack.frames.emplace_back();
    frame.address = {0x4000 + i};
    if (!functions[i].empty())
      frame.function = functions[i];
    thread.stack_pointers.emplace_back(TargetAddress{stack + 0x100 * i});
    thread.kept.push_back({i, i});
  }
  return thread;
}

std::vector<std::string> functions_of(const UnwoundThread& thread) {
  std::vector<std::string> functions;
  for (const StackFrame& frame : thread.stack.frames)
    functions.push_back((frame.language ? "py:" : "") + frame.function.value_or(""));
  return functions;
}

PythonCall call_of(std::vector<std::string> functions, std::optional<std::uint64_t> on_stack) {
  PythonCall call;
  for (auto& function : functions)
    call.frames.push_back({std::move(function), "a.py", 7});
  if (on_stack)
    call.on_stack = TargetAddress{*on_stack};
  return call;
}

TEST(MergePython, PutsEachCallBeforeItsEvaluator) {
  std::vector<UnwoundThread> threads = {
      thread_of(1, 0x10000, {"poll", evaluator, "PyObject_Call", evaluator, "main"}),
      thread_of(2, 0x20000, {"futex", evaluator, "start_thread"})};
  threads[0].call.emplace().frame = 2;
  const std::vector<PythonThread> python = {
      {{call_of({"waits"}, 0x20180)}},
      {{call_of({"inner", "outer"}, 0x10108), call_of({"<module>"}, 0x10308)}}};
  Warnings warnings;
  merge_python(python, threads, warnings);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_THAT(functions_of(threads[0]),
              ElementsAre("poll", "py:inner", "py:outer", evaluator, "PyObject_Call", "py:<module>",
                          evaluator, "main"));
  EXPECT_THAT(functions_of(threads[1]),
              ElementsAre("futex", "py:waits", evaluator, "start_thread"));
  EXPECT_EQ(threads[0].stack.frames[1].address, threads[0].stack.frames[3].address);
  EXPECT_EQ(threads[0].stack_pointers[2], TargetAddress{0x10100});
  EXPECT_EQ(threads[0].call->frame, 4U);
  ASSERT_THAT(threads[0].kept, SizeIs(5));
  EXPECT_EQ(threads[0].kept[3].frame, 6U);
  EXPECT_EQ(threads[0].kept[3].value, 3U);
}

TEST(MergePython, LeavesAStackThatDoesNotFit) {
  const std::vector<std::vector<PythonCall>> wrong = {
      {call_of({"one"}, 0x10108)},                                                    // too few
      {call_of({"one"}, 0x10108), call_of({"two"}, 0x10308), call_of({"three"}, {})}, // too many
      {call_of({"one"}, 0x10208), call_of({"two"}, 0x10308)},                         // elsewhere
      {call_of({"one"}, 0x10108), call_of({"two"}, 0x10508)},                         // elsewhere
      {call_of({"one"}, {}), call_of({"two"}, {})},                                   // no thread's
  };
  for (const auto& calls : wrong) {
    std::vector<UnwoundThread> threads = {
        thread_of(1, 0x10000, {"poll", evaluator, "PyObject_Call", evaluator, "main"})};
    Warnings warnings;
    merge_python(std::vector<PythonThread>{{calls}}, threads, warnings);
    EXPECT_THAT(threads[0].stack.frames, SizeIs(5));
    ASSERT_THAT(warnings, SizeIs(1));
    EXPECT_EQ(warnings[0].code, "python.damaged");
  }
}

/// As Debian's 3.14 has none.
TEST(MergePython, AnEvaluatorNeedsNoName) {
  std::vector<UnwoundThread> threads = {
      thread_of(1, 0x10000, {"poll", "", "", "apply", "", "main"})};
  Warnings warnings;
  merge_python(
      std::vector<PythonThread>{{{call_of({"inner"}, 0x10208), call_of({"outer"}, 0x10408)}}},
      threads, warnings);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_THAT(functions_of(threads[0]),
              ElementsAre("poll", "", "py:inner", "", "apply", "py:outer", "", "main"));
}

TEST(MergePython, OfACutStackTheInnermostCalls) {
  std::vector<UnwoundThread> threads = {thread_of(1, 0x10000, {"poll", evaluator, "main"})};
  threads[0].stack.end = StackEnd::cut;
  PythonThread python{{call_of({"inner"}, {}), call_of({"outer"}, {})}};
  python.number = 1;
  Warnings warnings;
  merge_python(std::vector<PythonThread>{python}, threads, warnings);
  EXPECT_THAT(functions_of(threads[0]), ElementsAre("poll", "py:inner", evaluator, "main"));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(MergePython, AnEvaluatorThatRunsMayNotHaveNotedItsLine) {
  for (const bool notes_late : {false, true}) {
    std::vector<UnwoundThread> threads = {thread_of(1, 0x10000, {evaluator, "main"})};
    PythonThread python{{call_of({"loop", "<module>"}, 0x10008)}};
    python.notes_late = notes_late;
    Warnings warnings;
    merge_python(std::vector<PythonThread>{python}, threads, warnings);
    ASSERT_THAT(threads[0].stack.frames, SizeIs(4));
    EXPECT_EQ(threads[0].stack.frames[0].line.has_value(), !notes_late);
    EXPECT_EQ(threads[0].stack.frames[1].line, 7);
  }
}

} // namespace
} // namespace mqbridge
