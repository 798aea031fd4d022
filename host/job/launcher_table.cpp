#include "host/job/launcher_table.h"

#include "host/disk/file_name.h"
#include "host/disk/work_budget.h"
#include "host/dump/target/process_access.h"
#include "host/mpi/mpi_support.h"
#include "host/process/stopped_process.h"

#include <fmt/format.h>
#include <memory>
#include <utility>

namespace mqbridge {
namespace {

using Clock = std::chrono::steady_clock;

/// No launcher is held longer than this, whatever its table claims.
constexpr std::chrono::seconds longest_hold{10};

/// The libraries that may have the table.
LibraryNames launcher_libraries() {
  auto names = launcher_table_libraries();
  names.emplace_back("libslurm");
  return LibraryNames(std::move(names));
}

/// One look at a launcher, from connect to detach.
class LauncherLook {
public:
  LauncherLook(const TargetSpec& launcher, const SharedTools& tools, std::stop_token stop)
      : tools_(tools), stop_(std::move(stop)), access_(access_to(launcher, tools, stub_)) {}

  Result<LauncherTable> read() {
    auto connected = access_->connect(stop_);
    if (!connected)
      return forward(std::move(connected));
    {
      const std::stop_callback cancel(stop_, [this] { access_->cancel(); });
      auto table = look();
      if (table)
        result_.table = std::move(*table);
      else
        error_ = std::move(table).error();
    }
    release();
    if (error_)
      return Failure(std::move(*error_));
    return std::move(result_);
  }

private:
  Result<Proctable> look() {
    auto opened = access_->open();
    for (auto& warning : access_->take_warnings())
      result_.warnings.push_back(std::move(warning));
    if (!opened)
      return forward(std::move(opened));
    const auto end = access_->limit(1.0, Clock::now() + longest_hold);
    const WorkScope scope({end.value_or(Clock::now() + longest_hold), stop_});
    ProcessOptions options;
    options.mpi_libraries = launcher_libraries();
    options.fetch.fetcher = &tools_.fetcher;
    options.fetch.deadline = access_->deadline();
    options.fetch.stop = stop_;
    options.cache = tools_.options.cache;
    auto process = StoppedProcess::open(std::move(opened->source), tools_.files, options);
    if (!process)
      return forward(std::move(process));
    process_ = std::move(*process);
    const auto path = process_->executable().value_or("");
    result_.program = file_name(path);
    Warnings missing;
    if (auto loaded = process_->load_images(missing); !loaded)
      return forward(std::move(loaded));
    auto table = read_proctable(process_->images(), process_->memory(), process_->platform());
    if (!table && !missing.empty()) // the missing files may have the symbols
      for (auto& warning : missing)
        result_.warnings.push_back(std::move(warning));
    return table;
  }

  void release() {
    const auto released = access_->release(process_.get(), error_.has_value());
    if (!released)
      return;
    result_.held =
        std::chrono::ceil<std::chrono::milliseconds>(released->held.to - released->held.from);
    if (released->died)
      error_ = *released->died;
    else if (!released->done)
      error_ = released->done.error();
  }

  const SharedTools& tools_;
  const std::stop_token stop_;
  std::shared_ptr<rsp::SharedStub> stub_;
  std::unique_ptr<ProcessAccess> access_;
  std::unique_ptr<StoppedProcess> process_;
  LauncherTable result_;
  std::optional<Error> error_;
};

} // namespace

Result<LauncherTable> read_launcher(const TargetSpec& launcher, const SharedTools& tools,
                                    std::stop_token stop) {
  return LauncherLook(launcher, tools, std::move(stop)).read();
}

} // namespace mqbridge
