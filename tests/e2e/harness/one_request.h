#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mqbridge::e2e {

/// How tests/inferiors/one_request is compiled and run.
struct OneRequestCase {
  std::string compiler = "gcc"; ///< of C
  std::vector<std::string> options = {"-O2"};
  bool fortran = false; ///< the calls are made by Fortran
  int others = 6;
  std::string level = "single";
  std::pair<std::string, std::string> environment = {}; ///< a variable of the ranks; or none
};

/// What a dump said of the calls, compared with what the program said of itself.
struct OneRequestOutcome {
  int right = 0;
  int unknown = 0;
  std::vector<std::string> wrong; ///< a line each
};

/// Compiles it, starts it, and dumps it while all ranks are in their calls. Throws
/// std::runtime_error with the compiler's or the job's words.
OneRequestOutcome look_at_calls(const OneRequestCase& param);

/// Variables under which the dynamic linker and memcpy leave other words on stacks.
const std::vector<std::pair<std::string, std::string>>& environments_of_stacks();

} // namespace mqbridge::e2e
