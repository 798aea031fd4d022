#include "bench/queue_walk/reporter.h"

#include <fmt/format.h>
#include <iostream>

namespace mqbridge::bench {

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
    if (run.error_occurred) {
      ++failures_;
      fmt::print(stderr, "   {}: {}\n", run.benchmark_name(), run.error_message);
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
