#include "host/dump/workshop.h"

#include <utility>

namespace mqbridge {
namespace {

IndexerOptions indexer_options(const DumpOptions& options) {
  return {.program = options.program_directory / "mqbridge-indexer", .sandboxed = options.sandbox};
}

} // namespace

Workshop::Workshop(DumpOptions options, std::unique_ptr<rsp::Guardian> guardian)
    : options_(std::move(options)), guardian_(std::move(guardian)), launchers_(options_.launch),
      files_(options_.paths, Debuginfod::from_environment(), indexer_options(options_)),
      sysroots_(options_.paths, indexer_options(options_)), fetcher_(options_.fetch),
      known_files_(files_, replays_) {}

Result<std::unique_ptr<Workshop>> Workshop::open(DumpOptions options) {
  auto guardian =
      rsp::Guardian::start(options.program_directory / "mqbridge-guardian", options.holds);
  if (!guardian)
    return forward(std::move(guardian));
  return std::unique_ptr<Workshop>(new Workshop(std::move(options), std::move(*guardian)));
}

SharedTools Workshop::tools(RunBudget& budget) {
  fetcher_.forget_answers();
  return {options_,  files_,        fetcher_, *guardian_, launchers_,
          &replays_, &known_files_, &budget,  &sysroots_, &frame_names_};
}

} // namespace mqbridge
