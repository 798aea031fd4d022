#include "tests/e2e/harness/call_case.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>
#include <set>

namespace mqbridge::e2e {
namespace {

// mpi_calls knows the others from these.
const std::set<std::string> message_calls = {"send",          "ssend",
                                             "rsend",         "bsend",
                                             "recv",          "probe",
                                             "mprobe",        "sendrecv",
                                             "wait",          "waitall",
                                             "waitany",       "sendrecv_replace",
                                             "waitall_mixed", "waitsome",
                                             "waitall_sends", "waitany_ibarrier",
                                             "two_threads",   "waitall_ibarrier",
                                             "wait_second"};

// The same, of call_others.c.
const std::set<std::string> other_calls = {
    "ibarrier", "ibcast",    "iallreduce",    "ialltoall",   "igather",
    "iscan",    "test_loop", "testany_loop",  "iprobe_loop", "win_fence",
    "win_lock", "file_open", "file_write_all"};

} // namespace

bool CallCase::is_inside(int rank) const {
  return std::find(inside.begin(), inside.end(), rank) != inside.end();
}

std::string CallCase::argument() const {
  return fmt::format("{}:{}:{}:{}", call, comm, bytes, fmt::join(inside, ","));
}

void PrintTo(const CallCase& param, std::ostream* stream) {
  *stream << param.argument();
}

std::vector<std::string> call_differences(const CallCase& param, const std::filesystem::path& step,
                                          const nlohmann::json& document) {
  if (other_calls.count(param.call) != 0)
    return {};
  const auto compare =
      message_calls.count(param.call) == 0 ? inside_differences : message_differences;
  return compare(param, step, document);
}

} // namespace mqbridge::e2e
