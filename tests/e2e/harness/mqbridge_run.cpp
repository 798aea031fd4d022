#include "tests/e2e/harness/mqbridge_run.h"

#include "host/analysis/analyze.h"
#include "host/document/document_reader.h"
#include "host/document/json_report.h"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <ostream>
#include <sched.h>
#include <sstream>

namespace mqbridge::e2e {
namespace {

using test::ChildProcess;
using test::ChildSpec;

nlohmann::json find_member(const nlohmann::json& array, const char* key, const std::string& value) {
  if (!array.is_array())
    return nullptr;
  for (const nlohmann::json& element : array) {
    if (element.value(key, "") == value)
      return element;
  }
  return nullptr;
}

std::string built_program() {
  return std::string(MQBRIDGE_BINARY_DIRECTORY) + "/mqbridge";
}

/// Whether children may run before all others (docs/performance.md: beside more ranks than
/// processors). Without it, tests of jobs take up to twice as long here, and some of them their
/// whole time limit.
bool may_hurry() {
  static const bool may = [] {
    const sched_param hurried{.sched_priority = 1};
    const sched_param usual{};
    return ::sched_setscheduler(0, SCHED_RR, &hurried) == 0 &&
           ::sched_setscheduler(0, SCHED_OTHER, &usual) == 0;
  }();
  return may;
}

/// What the program writes it reads back, and writes to the same bytes: the verdict, too, which it
/// makes again of what it has read.
void expect_read_back(const std::string& text) {
  constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;
  std::istringstream in(text);
  auto read = DocumentReader(most_bytes).document(in);
  ASSERT_TRUE(read) << read.error().message;
  if (text.find("\n  \"analysis\": {") != std::string::npos)
    read->dump.analysis = analyze(read->dump);
  const JsonOptions options{.tool_version = read->tool_version,
                            .raw = text.find("\"raw\":{") != std::string::npos};
  std::string again;
  write_json(read->dump, options, [&](std::string_view piece) { again += piece; });
  EXPECT_TRUE(again == text) << "differs from byte "
                             << std::ranges::mismatch(again, text).in1 - again.begin();
}

} // namespace

void PrintTo(const Outcome& outcome, std::ostream* stream) {
  *stream << (outcome.timed_out ? "still running" : "ended");
  if (outcome.ending.code)
    *stream << ", status " << *outcome.ending.code;
  if (outcome.ending.signal)
    *stream << ", signal " << *outcome.ending.signal;
  *stream << "\n--- stdout\n"
          << outcome.out.substr(0, 2000) << "\n--- stderr\n"
          << outcome.err.substr(0, 4000);
}

ChildSpec mqbridge_command(const std::vector<std::string>& arguments) {
  ChildSpec spec = {{built_program()}};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  return spec;
}

Outcome run_program(const ChildSpec& spec, std::chrono::milliseconds timeout) {
  ChildProcess process(spec);
  Outcome outcome;
  if (const auto ending = process.wait(timeout))
    outcome.ending = *ending;
  else
    outcome.timed_out = true;
  outcome.out = process.out();
  outcome.err = process.err();
  return outcome;
}

Outcome run_mqbridge(const std::vector<std::string>& arguments, std::chrono::milliseconds timeout) {
  return run_program(mqbridge_command(arguments), timeout);
}

DumpOutcome dump_json(const std::vector<std::string>& arguments,
                      std::chrono::milliseconds timeout) {
  return dump_json_with(built_program(), arguments, timeout);
}

DumpOutcome dump_json_with(const std::string& program, const std::vector<std::string>& arguments,
                           std::chrono::milliseconds timeout) {
  ChildSpec spec = {{program, "dump", "--format", "json"}};
  if (may_hurry())
    spec.argv.insert(spec.argv.begin(), {"chrt", "--rr", "1"});
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  DumpOutcome result = {run_program(spec, timeout), nullptr};
  result.document = nlohmann::json::parse(result.out, nullptr, false);
  if (result.document.is_discarded())
    result.document = nullptr;
  else
    expect_read_back(result.out);
  return result;
}

std::string local_target(pid_t pid) {
  return "local:" + std::to_string(pid);
}

nlohmann::json find_error(const nlohmann::json& rank, const std::string& code) {
  return find_member(rank.value("errors", nlohmann::json::array()), "code", code);
}

nlohmann::json find_communicator(const nlohmann::json& rank, const std::string& name) {
  return find_member(rank.value("communicators", nlohmann::json::array()), "name", name);
}

} // namespace mqbridge::e2e
