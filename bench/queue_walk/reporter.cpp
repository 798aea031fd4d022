#include "bench/queue_walk/reporter.h"

#include <fmt/format.h>
#include <iostream>

namespace mqbridge::bench {
namespace {

/// Why a run was given up; null: it was not. Google Benchmark 1.8 and later have other names for
/// it.
template <typename Run>
const std::string* failure_of(const Run& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred ? &run.error_message : nullptr;
  else
    return run.skipped ? &run.skip_message : nullptr;
}

} // namespace

MergedJson::MergedJson(std::ostream& out) {
  SetOutputStream(&out);
  SetErrorStream(&std::cerr);
}

bool MergedJson::ReportContext(const Context& context) {
  if (begun_)
    return true;
  begun_ = true;
  return JSONReporter::ReportContext(context);
}

void MergedJson::ReportRuns(const std::vector<Run>& runs) {
  JSONReporter::ReportRuns(runs);
  for (const auto& run : runs) {
    if (const std::string* failure = failure_of(run)) {
      ++failures_;
      fmt::print(stderr, "   {}: {}\n", run.benchmark_name(), *failure);
    } else if (run.repetitions <= 1 ? run.report_label.empty() : run.aggregate_name == "median") {
      fmt::print(stderr, "   {:<110} {:>10.1f} ms\n", run.run_name.function_name,
                 run.GetAdjustedRealTime());
    }
  }
}

void MergedJson::finish() {
  if (begun_)
    JSONReporter::Finalize();
}

} // namespace mqbridge::bench
