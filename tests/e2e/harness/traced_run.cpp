#include "tests/e2e/harness/traced_run.h"

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view mark = " == ";

/// Calls `use(line)` for each line with an end.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    use(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

} // namespace

std::vector<PhaseMark> phase_marks(std::string_view trace) {
  std::vector<PhaseMark> marks;
  double last = 0;
  for_each_line(trace, [&](std::string_view line) {
    last = std::strtod(std::string(line.substr(0, 16)).c_str(), nullptr);
    if (const auto at = line.find(mark); at != line.npos)
      marks.push_back({std::string(line.substr(at + mark.size())), last});
  });
  marks.push_back({"end", last});
  return marks;
}

TracedRun::TracedRun(std::vector<std::string> arguments)
    : process_(mqbridge_command(with_trace(std::move(arguments)))) {}

std::vector<std::string> TracedRun::with_trace(std::vector<std::string> arguments) const {
  arguments.insert(arguments.end(), {"--trace", path()});
  return arguments;
}

bool TracedRun::await_phase(std::string_view phase, int occurrence,
                            std::chrono::milliseconds timeout) {
  const std::string wanted = std::string(mark) + std::string(phase);
  std::ifstream file;
  std::string line;
  int seen = 0;
  const auto look = [&] {
    if (!file.is_open())
      file.open(path());
    file.clear();
    for (std::string part; std::getline(file, part); line.clear()) {
      line += part;
      if (file.eof())
        return false; // the rest of the line is still to come
      seen += line.ends_with(wanted) ? 1 : 0;
      if (seen >= occurrence)
        return true;
    }
    return false;
  };
  test::eventually(
      timeout, [&] { return look() || process_.wait(0ms).has_value(); }, 0ms);
  return seen >= occurrence;
}

std::string TracedRun::trace() const {
  std::ifstream in(path(), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string TracedRun::phase() const {
  const auto marks = phase_marks(trace());
  return marks.size() < 2 ? "start" : marks[marks.size() - 2].phase;
}

bool TracedRun::has_spoken() const {
  return trace().find(" -> ") != std::string::npos;
}

} // namespace mqbridge::e2e
