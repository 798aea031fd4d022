#include "rsp/client/attach_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace mqbridge::rsp {
namespace {

using testing::HasSubstr;

using Files = std::map<std::string, std::string, std::less<>>;

FileSource source(const Files& files) {
  return [&files](std::string_view path) -> Result<std::string> {
    const auto file = files.find(path);
    if (file == files.end())
      return fail("vfile.open", "ENOENT");
    return file->second;
  };
}

std::string stub_status(const std::string& user, const std::string& capabilities) {
  return "Name:\tgdbserver\nUid:\t7\t" + user + "\t7\t7\nCapInh:\tffffffffffffffff\nCapEff:\t" +
         capabilities + "\n";
}

std::string process_status(const std::string& user, const std::string& tracer,
                           const std::string& state = "S (sleeping)") {
  return "Name:\tsolver\nState:\t" + state + "\nTracerPid:\t" + tracer + "\nUid:\t" + user +
         "\t0\t0\t0\n";
}

const std::string all_capabilities = "000001ffffffffff";
const std::string docker_capabilities = "00000000a80425fb"; // CAP_SYS_PTRACE is not in it
const std::string no_capabilities = "0000000000000000";
const std::string yama = "/proc/sys/kernel/yama/ptrace_scope";
const std::string self = "/proc/self/status";
const std::string process = "/proc/42/status";

struct Case {
  std::string name;
  Files files;
  std::string code;
  std::string message;
  std::string hint;
};

TEST(AttachRefusal, IsToldApart) {
  const std::vector<Case> cases{
      {"nothing known", {}, "ptrace.denied", "process 42: E01", "--cap-add SYS_PTRACE"},
      {"no such process",
       {{self, stub_status("0", all_capabilities)}},
       "attach.no_such_process",
       "there is no process 42 where the stub runs",
       "pgrep"},
      {"a zombie",
       {{self, stub_status("0", all_capabilities)}, {process, process_status("0", "0", "Z")}},
       "attach.exited",
       "has ended",
       "pgrep"},
      {"a zombie whose other threads live",
       {{self, stub_status("0", all_capabilities)},
        {process, process_status("0", "0", "Z") + "Threads:\t3\n"}},
       "attach.main_ended",
       "main thread has ended (pthread_exit), and 2 of its threads live on",
       "mqbridge dump local:42"},
      {"traced",
       {{self, stub_status("0", all_capabilities)},
        {process, process_status("0", "77", "t (tracing stop)")},
        {"/proc/77/status", "Name:\tgdb\n"}},
       "ptrace.traced",
       "gdb (process 77) traces it already",
       "end that debugger"},
      {"traced by one that we cannot see",
       {{self, stub_status("1000", no_capabilities)}, {process, process_status("1000", "77")}},
       "ptrace.traced",
       "process 77 traces it already",
       "77"},
      {"another user",
       {{self, stub_status("1000", no_capabilities)}, {process, process_status("1001", "0")}},
       "ptrace.other_user",
       "process 42 is of user 1001: user 1000, as whom the server runs, may not look into it",
       "run mqbridge as root, or as user 1001"},
      {"root's",
       {{self, stub_status("1000", no_capabilities)}, {process, process_status("0", "0")}},
       "ptrace.other_user",
       "process 42 is of root",
       "run mqbridge as root;"},
      {"yama",
       {{self, stub_status("1000", no_capabilities)},
        {process, process_status("1000", "0")},
        {yama, "1\n"}},
       "ptrace.yama",
       "same user, yama ptrace_scope=1",
       "sysctl -w kernel.yama.ptrace_scope=0"},
      {"yama for good",
       {{self, stub_status("1000", no_capabilities)},
        {process, process_status("1000", "0")},
        {yama, "3\n"}},
       "ptrace.yama",
       "ptrace_scope=3",
       "boot"},
      {"yama off",
       {{self, stub_status("1000", no_capabilities)},
        {process, process_status("1000", "0")},
        {yama, "0\n"}},
       "ptrace.denied",
       "process 42",
       "gdbserver"},
      {"root in a container",
       {{self, stub_status("0", docker_capabilities)},
        {process, process_status("1000", "0")},
        {yama, "1\n"}},
       "ptrace.capability",
       "without CAP_SYS_PTRACE",
       "--cap-add SYS_PTRACE"},
      {"another user, but capable",
       {{self, stub_status("1000", all_capabilities)}, {process, process_status("1001", "0")}},
       "ptrace.denied",
       "process 42",
       "gdbserver"},
      {"status files of nonsense",
       {{self, "Uid:\nCapEff:\tzz\nUid:"},
        {process, "State:\t\nTracerPid:\tx\nUid:\t\t"},
        {yama, ""}},
       "ptrace.denied",
       "process 42",
       "gdbserver"},
  };
  for (const Case& wanted : cases) {
    const AttachFacts facts = gather_attach_facts(source(wanted.files), 42, self);
    const Error error = explain_refusal(facts, 42, "E01");
    EXPECT_EQ(error.code, wanted.code) << wanted.name << ": " << error.message;
    EXPECT_THAT(error.message, HasSubstr(wanted.message)) << wanted.name;
    EXPECT_THAT(error.hint, HasSubstr(wanted.hint)) << wanted.name;
    const auto foreseen = foresee_refusal(facts, 42);
    const bool lives_on = wanted.code == "attach.main_ended"; // by its other threads
    EXPECT_EQ(foreseen ? foreseen->code : "ptrace.denied", lives_on ? "ptrace.denied" : wanted.code)
        << wanted.name;
  }
}

} // namespace
} // namespace mqbridge::rsp
