#include "tests/stacks/core_subject.h"

#include <gmock/gmock.h>
namespace mqbridge {
namespace {
using test::CoreSubject;
using test::SubjectBuild;
TEST(Explore, Print) {
  const char* kind = std::getenv("KIND");
  const char* cc = std::getenv("CCX");
  const char* emu = std::getenv("EMU");
  SubjectBuild build;
  if (cc)
    build.compiler = {cc};
  if (const char* s = std::getenv("SRC"))
    build.source = s;
  if (const char* st = std::getenv("LINKX"))
    build.compiler.push_back(st);
  if (emu)
    build.emulator = {emu};
  if (const char* sy = std::getenv("SYSX")) {
    build.sysroots = {sy};
    build.emulator.push_back("-L");
    build.emulator.push_back(sy);
  }
  build.compiler.insert(build.compiler.end(), {"-g", "-O2"});
  if (const char* st = std::getenv("OPTX"))
    build.compiler.push_back(st);
  CoreSubject subject(build, kind ? kind : "plain");
  Warnings warnings;
  auto options = test::unwind_options();
  options.sandboxed = std::getenv("OUTSIDE") == nullptr;
  for (const auto& thread : subject.unwind(options, warnings)) {
    std::printf("thread %ld end %d frames %zu\n", (long)thread.stack.thread, (int)thread.stack.end,
                thread.stack.frames.size());
    std::size_t n = 0;
    for (const auto& f : thread.stack.frames) {
      if (n < 25)
        std::printf("  %lx sp %lx %s+%ld %s:%ld %s%s\n", f.address.value,
                    thread.stack_pointers[n].value_or(TargetAddress{}).value,
                    f.function.value_or("??").c_str(), f.offset.value_or(-1),
                    f.file.value_or("-").c_str(), f.line.value_or(0),
                    f.module.value_or("-").c_str(), f.inlined ? " inlined" : "");
      ++n;
    }
  }
  for (const auto& w : warnings)
    std::printf("%s: %s\n", std::string(w.code).c_str(), w.message.c_str());
  if (!emu) {
    int n = 0;
    for (const auto& p : subject.gdb())
      if (++n < 25)
        std::printf("gdb %s %ld\n", p.first.c_str(), p.second);
  }
  for (const auto& p : subject.said())
    std::printf("said %s %ld\n", p.first.c_str(), p.second);
}
} // namespace
} // namespace mqbridge
