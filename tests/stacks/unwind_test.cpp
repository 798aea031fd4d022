// Call stacks of real programs. What they must be, gdb says of the same core, and the program said
// itself before it ended.

#include "tests/stacks/core_subject.h"
#include "tests/support/child_process.h"
#include "tests/support/core_files.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <sys/user.h>

namespace mqbridge {
namespace {

using test::CoreSubject;
using test::own;
using test::Place;
using test::places;
using test::SubjectBuild;
using testing::Contains;
using testing::EndsWith;
using testing::Optional;
using testing::Pair;
using testing::SizeIs;

SubjectBuild native_build(const std::vector<std::string>& options,
                          const std::string& source = "chain.c",
                          const std::string& compiler = MQBRIDGE_TEST_CC) {
  SubjectBuild build;
  build.compiler = {compiler};
  build.compiler.insert(build.compiler.end(), options.begin(), options.end());
  build.source = source;
  return build;
}

class NativeStacks : public testing::Test {
protected:
  void SetUp() override { MQBRIDGE_SKIP_IF_LACKING(test::lacking_kernel_cores()); }
};

/// The only thread's stack, which is the program's and gdb's as far as the program's own functions
/// go.
ThreadStack expect_agreement(const CoreSubject& subject) {
  const auto threads = subject.unwind();
  EXPECT_THAT(threads, SizeIs(1));
  if (threads.size() != 1)
    return {};
  const auto found = own(places(threads[0].stack), subject.said());
  EXPECT_EQ(found, subject.said());
  EXPECT_EQ(found, own(subject.gdb(), subject.said()));
  return threads[0].stack;
}

TEST_F(NativeStacks, AreThoseOfTheProgramAndOfGdb) {
  for (const char* pointers : {"-fomit-frame-pointer", "-fno-omit-frame-pointer"}) {
    const auto stack = expect_agreement({native_build({"-g", "-O2", pointers}), "plain"});
    EXPECT_EQ(stack.end, StackEnd::outermost);
    EXPECT_EQ(stack.frames.back().function, "_start");
  }
}

/// A register that a function has not changed is its caller's: the value is no other function's.
TEST_F(NativeStacks, HaveTheValuesThatEachFunctionKeepsInRegisters) {
  for (const char* pointers : {"-fomit-frame-pointer", "-fno-omit-frame-pointer"}) {
    const auto threads = CoreSubject(native_build({"-g", "-O2", pointers}), "plain").unwind();
    ASSERT_THAT(threads, SizeIs(1));
    EXPECT_THAT(test::keepers(threads[0], 0x1badcafe), testing::ElementsAre("die"));
    EXPECT_THAT(test::keepers(threads[0], 0x2badcafe), testing::ElementsAre("outer"));
  }
}

/// Where a recorder saw a call is a return address as any other one, with a stack or without.
TEST_F(NativeStacks, CallSitesAreNamedAsCallersAre) {
  const CoreSubject subject(native_build({"-g", "-O2"}), "plain");
  const auto unwound = subject.unwind();
  std::vector<StackFrame> callers; // of each address the innermost one
  for (const auto& frame : unwound.at(0).stack.frames)
    if (callers.empty() || callers.back().address != frame.address)
      callers.push_back(frame);
  ASSERT_GT(callers.size(), 3U);
  for (const bool with_stacks : {true, false}) {
    auto options = test::unwind_options();
    for (std::size_t i = 1; i < callers.size(); ++i)
      options.sites.push_back(std::make_shared<CallSite>(CallSite{callers[i].address}));
    options.sites.push_back(std::make_shared<CallSite>(CallSite{TargetAddress{1}}));
    Warnings warnings;
    const auto threads = subject.unwind(options, warnings, [&](auto& captured, auto&) {
      if (!with_stacks)
        captured = {};
    });
    EXPECT_EQ(threads.empty(), !with_stacks);
    for (std::size_t i = 1; i < callers.size(); ++i) {
      const auto& site = *options.sites[i - 1];
      EXPECT_EQ(site.function, callers[i].function);
      EXPECT_EQ(site.file, callers[i].file);
      EXPECT_EQ(site.line, callers[i].line);
    }
    EXPECT_EQ(options.sites.back()->function, std::nullopt) << "code of no file";
  }
}

TEST_F(NativeStacks, GoOnInWhatASignalHandlerInterrupted) {
  for (const char* kind : {"handler", "fault"}) {
    const auto stack = expect_agreement({native_build({"-g", "-O2"}), kind});
    EXPECT_EQ(stack.end, StackEnd::outermost);
    EXPECT_THAT(places(stack), Contains(Pair("__restore_rt", 0)));
  }
}

TEST_F(NativeStacks, OfThreadsEndWhereTheyBegan) {
  const CoreSubject subject(native_build({"-g", "-O2"}), "thread");
  const auto threads = subject.unwind();
  ASSERT_THAT(threads, SizeIs(2)); // that of the signal is the first in a core
  EXPECT_EQ(own(places(threads[0].stack), subject.said()), subject.said());
  EXPECT_EQ(threads[0].stack.end, StackEnd::outermost);
  EXPECT_THAT(places(threads[1].stack), Contains(Pair("main", testing::Gt(0))));
  EXPECT_EQ(threads[1].stack.end, StackEnd::outermost);
}

TEST_F(NativeStacks, EndAtCodeWithoutFile) {
  const CoreSubject subject(native_build({"-g", "-O2"}), "without_file");
  const auto threads = subject.unwind();
  ASSERT_THAT(threads, SizeIs(1));
  const auto& frames = threads[0].stack.frames;
  EXPECT_EQ(threads[0].stack.end, StackEnd::no_cfi);
  ASSERT_GE(frames.size(), 2U);
  EXPECT_EQ(frames.back().function, std::nullopt);
  EXPECT_EQ(frames.back().module, std::nullopt);
  EXPECT_EQ(places(threads[0].stack)[frames.size() - 2], subject.said().front()) << "die";
}

TEST_F(NativeStacks, EndWhereAReturnAddressWasOverwritten) {
  const auto threads = CoreSubject(native_build({"-g", "-O2"}), "overwritten").unwind();
  ASSERT_THAT(threads, SizeIs(1));
  const auto& frames = threads[0].stack.frames;
  EXPECT_EQ(threads[0].stack.end, StackEnd::no_cfi);
  ASSERT_GE(frames.size(), 2U);
  EXPECT_EQ(frames.back().address, TargetAddress{0x4141414141});
  EXPECT_EQ(frames[frames.size() - 2].function, "overwrite");
}

TEST_F(NativeStacks, EndWhereTheyGoInCircles) {
  const auto threads = CoreSubject(native_build({"-g", "-O2"}), "circle").unwind();
  ASSERT_THAT(threads, SizeIs(1));
  EXPECT_EQ(threads[0].stack.end, StackEnd::repeats);
  EXPECT_LT(threads[0].stack.frames.size(), 10U);
  EXPECT_EQ(threads[0].stack.frames.back().function, "call_itself");
}

TEST_F(NativeStacks, OfANullCallHaveItsAddress) {
  const auto threads = CoreSubject(native_build({"-g", "-O2"}), "null").unwind();
  ASSERT_THAT(threads, SizeIs(1));
  EXPECT_EQ(threads[0].stack.end, StackEnd::no_cfi);
  ASSERT_THAT(threads[0].stack.frames, SizeIs(1));
  EXPECT_EQ(threads[0].stack.frames[0].address, TargetAddress{0});
}

/// Leaves two pages, that of the stack pointer and the next one.
void keep_two_pages(CapturedStacks& captured) {
  auto& thread = captured.threads.at(0);
  const auto first = thread.stack_pointer / PageStore::page_size;
  const auto end = (first + 2) * PageStore::page_size;
  const auto start = thread.stack_pointer / PageStore::line_size * PageStore::line_size;
  auto kept = PageStore::create(std::size_t{1} << 20);
  ASSERT_TRUE(kept);
  const auto pages = (*kept)->prepare(first, 2);
  ASSERT_TRUE(captured.pages->copy(start, pages.last(end - start)));
  for (const auto number : {first, first + 1})
    (*kept)->publish(number, ~std::uint64_t{0}, ~std::uint64_t{0});
  captured.pages = std::move(*kept);
  thread.captured_to = {end};
}

TEST_F(NativeStacks, SayWhereTheyWereCut) {
  const CoreSubject subject(native_build({"-g", "-O2"}), "deep");
  for (const bool cut : {true, false}) {
    Warnings warnings;
    const auto threads =
        subject.unwind(test::unwind_options(), warnings, [&](auto& captured, auto&) {
          keep_two_pages(captured);
          captured.threads.at(0).cut = cut;
        });
    ASSERT_THAT(threads, SizeIs(1));
    EXPECT_EQ(threads[0].stack.end, cut ? StackEnd::cut : StackEnd::unreadable);
    EXPECT_EQ(threads[0].stack.frames.back().function, "descend");
    EXPECT_THAT(warnings, SizeIs(0));
  }
}

#ifdef __x86_64__
TEST_F(NativeStacks, OfRegistersThatPointNowhereEndSoon) {
  const CoreSubject subject(native_build({"-g", "-O2"}), "plain");
  const auto unwound_with = [&](std::size_t offset, std::optional<std::byte> value) {
    Warnings warnings;
    auto threads = subject.unwind(test::unwind_options(), warnings, [&](auto& captured, auto&) {
      auto& registers = captured.threads.at(0).thread.registers.value();
      std::fill_n(registers.begin() + static_cast<std::ptrdiff_t>(offset), 8, value);
    });
    EXPECT_THAT(warnings, SizeIs(0));
    EXPECT_THAT(threads, SizeIs(1));
    return threads.empty() ? ThreadStack() : std::move(threads[0].stack);
  };
  const auto rsp = offsetof(user_regs_struct, rsp);
  const auto rip = offsetof(user_regs_struct, rip);
  const auto lost_stack = unwound_with(rsp, std::byte{0x41});
  EXPECT_EQ(lost_stack.end, StackEnd::unreadable);
  EXPECT_THAT(lost_stack.frames, SizeIs(1));
  const auto lost_code = unwound_with(rip, std::byte{0x41});
  EXPECT_EQ(lost_code.end, StackEnd::no_cfi);
  EXPECT_THAT(lost_code.frames, SizeIs(1));
  const auto no_stack = unwound_with(rsp, std::nullopt);
  EXPECT_EQ(no_stack.end, StackEnd::unreadable) << "no zero";
  EXPECT_THAT(no_stack.frames, SizeIs(1));
  const auto no_code = unwound_with(rip, std::nullopt);
  EXPECT_EQ(no_code.end, StackEnd::unreadable);
  EXPECT_THAT(no_code.frames, SizeIs(0));
}
#endif

TEST_F(NativeStacks, HaveAsManyFramesAsAreShown) {
  const CoreSubject subject(native_build({"-g", "-O2"}), "plain");
  const auto all = subject.unwind();
  ASSERT_THAT(all, SizeIs(1));
  for (std::size_t most = 1; most < all[0].stack.frames.size(); ++most) {
    auto options = test::unwind_options();
    options.max_frames = most;
    Warnings warnings;
    const auto threads = subject.unwind(options, warnings);
    ASSERT_THAT(threads, SizeIs(1));
    EXPECT_THAT(threads[0].stack.frames, SizeIs(most)) << "inlined ones count, too";
    EXPECT_EQ(threads[0].stack.end, StackEnd::limit);
    EXPECT_THAT(warnings, SizeIs(0));
  }
}

TEST_F(NativeStacks, OfAStrippedProgramHaveAddresses) {
  const CoreSubject subject(native_build({"-O2", "-s"}), "plain");
  const auto threads = subject.unwind();
  ASSERT_THAT(threads, SizeIs(1));
  const auto& stack = threads[0].stack;
  EXPECT_EQ(stack.end, StackEnd::outermost);
  EXPECT_EQ(std::ranges::count_if(stack.frames,
                                  [&](const StackFrame& frame) {
                                    return frame.module == subject.program() && !frame.function &&
                                           frame.offset > 0;
                                  }),
            std::ranges::count(subject.gdb(), Place("??", 0)));
  EXPECT_THAT(subject.gdb(), Contains(Place("??", 0)));
}

TEST_F(NativeStacks, HaveNamesOfCplusplusWithoutParameters) {
  const CoreSubject subject(native_build({"-g", "-O2"}, "names.cpp", MQBRIDGE_TEST_CXX), "");
  const auto threads = subject.unwind();
  ASSERT_THAT(threads, SizeIs(1));
  const auto of_gdb = [&](const Place& place) {
    return Place(place.first.substr(0, place.first.find("(const std::function")), place.second);
  };
  std::vector<Place> expected;
  std::ranges::transform(subject.gdb(), std::back_inserter(expected), of_gdb);
  const auto is_ours = [](const Place& place) {
    return place.first.starts_with("halo::") || place.first == "plain_c" || place.first == "main";
  };
  std::erase_if(expected, std::not_fn(is_ours));
  auto found = places(threads[0].stack);
  std::erase_if(found, std::not_fn(is_ours));
  EXPECT_EQ(found, expected);
  EXPECT_THAT(expected, Contains(Pair("halo::(anonymous namespace)::hidden", testing::Gt(0))));
  EXPECT_THAT(expected, Contains(Pair("halo::Exchange::operator new", testing::Gt(0))));
  EXPECT_THAT(expected, SizeIs(testing::Ge(10)));
}

TEST_F(NativeStacks, HaveNamesOfFortran) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gfortran", "gfortran"));
  const CoreSubject subject(native_build({"-g", "-O1"}, "names.f90", "gfortran"), "");
  const auto threads = subject.unwind();
  ASSERT_THAT(threads, SizeIs(1));
  const std::vector<Place> said = {
      {"halo::exchange", 0}, {"plain", 0}, {"ring::step", 0}, {"ring", 0}, {"main", 0}};
  const auto found = own(places(threads[0].stack), said);
  EXPECT_EQ(found, own(subject.gdb(), said));
  EXPECT_THAT(found, SizeIs(said.size()));
}

/// The program's own frames, by their names.
std::vector<std::string> names_in(const std::string& module, const ThreadStack& stack) {
  std::vector<std::string> names;
  for (const auto& frame : stack.frames)
    if (frame.module == module)
      names.push_back(frame.function.value_or("??"));
  return names;
}

TEST_F(NativeStacks, HaveNamesOfWhatOnlyOneFunctionJumpsTo) {
  const CoreSubject subject(native_build({"-O2", "-s", "-rdynamic"}, "jumps.c"), "");
  const auto threads = subject.unwind();
  ASSERT_THAT(threads, SizeIs(1));
  const auto names = names_in(subject.program(), threads[0].stack);
  ASSERT_THAT(names, SizeIs(testing::Ge(5)));
  EXPECT_EQ(names[0], "??") << "two functions jump there, and one of them was called";
  EXPECT_EQ(names[1], "near_alone");
  EXPECT_EQ(names[2], "far_alone");
  EXPECT_THAT(names[3], testing::AnyOf("MPI_Named", "PMPI_Named"));
  EXPECT_EQ(names[4], "main");
}

TEST_F(NativeStacks, GoThroughMoreLibrariesThanAProcessUsuallyOpens) {
  constexpr int count = 100;
  const test::TempDirectory directory;
  test::compile(native_build({"-g", "-O2", "-shared", "-fPIC", "-DLIBRARY"}, "many_libraries.c"),
                directory / "0.so");
  for (int i = 1; i < count; ++i)
    std::filesystem::copy_file(directory / "0.so", directory / (std::to_string(i) + ".so"));
  const CoreSubject subject(native_build({"-g", "-O2"}, "many_libraries.c"), directory.path());
  const auto threads = subject.unwind();
  ASSERT_THAT(threads, SizeIs(1));
  const auto found = places(threads[0].stack);
  EXPECT_EQ(std::ranges::count(found, "hop", &Place::first), count);
  EXPECT_THAT(found, Contains(Pair("main", testing::Gt(0))));
}

/// dwz moves what several files have in common into one that they all refer to.
TEST_F(NativeStacks, HaveNamesThatDwzPutElsewhere) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("dwz", "dwz"));
  const CoreSubject subject(native_build({"-g", "-O2"}), "plain");
  const test::TempDirectory directory;
  const std::string one = directory / "one";
  const std::string other = directory / "other";
  const std::string common = directory / "common";
  std::filesystem::copy_file(subject.program(), one);
  std::filesystem::copy_file(subject.program(), other);
  test::ChildProcess dwz({{"dwz", "-m", common, one, other}});
  const auto ending = dwz.wait(std::chrono::seconds(60));
  ASSERT_TRUE(ending && ending->code == 0) << dwz.err();
  for (const bool is_there : {true, false}) {
    if (!is_there)
      std::filesystem::remove(common);
    Warnings warnings;
    const auto threads = subject.unwind(test::unwind_options(), warnings, [&](auto&, auto& images) {
      for (auto& image : images)
        if (image.target_path == subject.program())
          image.file = ElfFile::open(one).value();
    });
    ASSERT_THAT(threads, SizeIs(1));
    EXPECT_EQ(own(places(threads[0].stack), subject.said()) == subject.said(), is_there);
  }
}

TEST_F(NativeStacks, OfI386BeginInTheVdso) {
  MQBRIDGE_SKIP_IF_LACKING(
      test::lacking_program("i686-linux-gnu-gcc", "gcc-i686-linux-gnu libc6-dev-i386-cross"));
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_ia32());
  const auto stack = expect_agreement(
      {native_build({"-g", "-O2", "-static"}, "chain.c", "i686-linux-gnu-gcc"), "plain"});
  ASSERT_FALSE(stack.frames.empty());
  EXPECT_EQ(stack.frames[0].function, "__kernel_vsyscall");
  EXPECT_EQ(stack.frames[0].module, "[vdso]");
}

} // namespace
} // namespace mqbridge
