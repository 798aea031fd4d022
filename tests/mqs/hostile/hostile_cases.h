#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::test {

/// One evil of the hostile DLL, and what a walk says of it.
struct HostileCase {
  std::string evil;
  std::string place;
  /// Of the failure. Empty: there is none, and all is complete. "any": neither can be promised, as
  /// the worker's own memory was written to; what must hold in every case must hold here, too.
  std::string code;
  std::vector<std::string> words = {}; ///< of the failure's message
  /// The worker's time: that of the evils which never end is kept short.
  bool is_endless = false;
};

std::string name_of(const HostileCase& which); ///< for a test
void PrintTo(const HostileCase& which, std::ostream* stream);

/// Before the first communicator, within the second one, or after all.
enum class Stage { before, within, after };
Stage stage_of(std::string_view place);

/// Every evil at least once; some in every function.
std::vector<HostileCase> hostile_cases();

/// The functions that answer with a code, and what an unknown one costs.
struct CodeCase {
  std::string evil;
  std::string place;
  enum class Cost { walk, queue, group, nothing } cost;
  std::string code = {}; ///< of the failure, where it costs the walk
};
void PrintTo(const CodeCase& which, std::ostream* stream);
std::vector<CodeCase> code_cases();

} // namespace mqbridge::test
