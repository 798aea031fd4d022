#pragma once

#include <benchmark/benchmark.h>
#include <iosfwd>

namespace mqbridge::bench {

/// Google Benchmark's JSON of several rounds of RunSpecifiedBenchmarks() as one document, and a
/// line on stderr for each contender that has come to its end.
class MergedJson final : public benchmark::JSONReporter {
public:
  /// The document's end is written by finish(). `out` outlives the reporter.
  explicit MergedJson(std::ostream& out);

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override {} // of one round
  void finish();
  /// The number of runs that ended in an error.
  int failures() const { return failures_; }

private:
  bool begun_ = false;
  int failures_ = 0;
};

} // namespace mqbridge::bench
