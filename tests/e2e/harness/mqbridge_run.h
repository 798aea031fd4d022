#pragma once

#include "tests/support/child_process.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// What a run of mqbridge left behind.
struct Outcome {
  bool timed_out = false;
  test::Ending ending;
  std::string out;
  std::string err;

  /// The exit status; -1 if it was killed or never ended.
  int status() const { return timed_out ? -1 : ending.code.value_or(-1); }
};

void PrintTo(const Outcome& outcome, std::ostream* stream);

/// The command line: the built program, then `arguments`.
test::ChildSpec mqbridge_command(const std::vector<std::string>& arguments);

/// Runs it to its end, or kills it after `timeout`.
Outcome run_program(const test::ChildSpec& spec,
                    std::chrono::milliseconds timeout = std::chrono::seconds(60));
Outcome run_mqbridge(const std::vector<std::string>& arguments,
                     std::chrono::milliseconds timeout = std::chrono::seconds(60));

/// `mqbridge dump --format json`: the document as well. Null if it is not JSON.
struct DumpOutcome : Outcome {
  nlohmann::json document;
};
DumpOutcome dump_json(const std::vector<std::string>& arguments,
                      std::chrono::milliseconds timeout = std::chrono::seconds(60));
/// The same with another copy of the program.
DumpOutcome dump_json_with(const std::string& program, const std::vector<std::string>& arguments,
                           std::chrono::milliseconds timeout = std::chrono::seconds(60));

/// "local:PID"
std::string local_target(pid_t pid);

/// The error of a rank with this code; null if it has none.
nlohmann::json find_error(const nlohmann::json& rank, const std::string& code);

/// The communicator of a rank by its name; null if it has none.
nlohmann::json find_communicator(const nlohmann::json& rank, const std::string& name);

} // namespace mqbridge::e2e
