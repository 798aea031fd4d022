#pragma once

#include "host/process/stopped_process.h"
#include "host/stacks/unwind.h"
#include "tests/support/temp_directory.h"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge::test {

/// How a subject is compiled and run.
struct SubjectBuild {
  std::vector<std::string> compiler = {MQBRIDGE_TEST_CC}; ///< with its options
  std::vector<std::string> emulator = {};                 ///< before the program
  std::string source = "chain.c";                         ///< in tests/stacks/subjects
  std::vector<std::string> sysroots = {};
};

/// A name and a line.
using Place = std::pair<std::string, std::int64_t>;

using Change = std::function<void(CapturedStacks&, std::vector<Image>&)>;

// What is common to subjects, wherever they are. What fails is a failure of the test.
void compile(const SubjectBuild& build, const std::string& program);
/// What a subject printed: the innermost place first.
std::vector<Place> places_in(const std::string& output);
std::vector<UnwoundThread> unwind_process(Result<std::unique_ptr<ProcessSource>> source,
                                          ElfCache& files, const UnwindOptions& options,
                                          Warnings& warnings, const Change& change = {});

/// A program that ended with a core file, and its stacks.
class CoreSubject {
public:
  /// Compiles, and runs it with one argument. What fails is a failure of the test.
  CoreSubject(const SubjectBuild& build, const std::string& kind);

  const std::string& program() const { return program_; }
  const std::string& core() const { return core_; }
  /// What the program said of its calls, the innermost one first.
  const std::vector<Place>& said() const { return said_; }
  /// Between capture and unwinding something may be changed.
  std::vector<UnwoundThread> unwind(const UnwindOptions& options, Warnings& warnings,
                                    const Change& change = {}) const;
  /// Without warnings.
  std::vector<UnwoundThread> unwind() const;

  /// The frames that gdb gives of the thread that got the signal; a line of 0: none.
  std::vector<Place> gdb() const;

private:
  TempDirectory directory_;
  std::string program_;
  std::string core_;
  std::vector<std::string> sysroots_;
  std::vector<Place> said_;
};

/// Names and lines as gdb() gives them, for comparison.
std::vector<Place> places(const ThreadStack& stack);
/// Those of `places` that the subject could have said: from its first own function on.
std::vector<Place> own(const std::vector<Place>& places, const std::vector<Place>& said);

/// The functions of the frames that keep a value, the innermost one first; of an inlined one the
/// function into which it was inlined.
std::vector<std::string> keepers(const UnwoundThread& thread, std::uint64_t value);

UnwindOptions unwind_options();

} // namespace mqbridge::test
