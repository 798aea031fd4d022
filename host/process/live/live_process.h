#pragma once

#include "host/process/live/process_files.h"
#include "host/process/live/process_threads.h"
#include "host/process/live/stub_memory.h"
#include "host/process/live/zero_watch.h"
#include "host/process/process_source.h"
#include "rsp/client/client.h"
#include "rsp/commands/attach.h"

#include <memory>
#include <optional>
#include <string>

namespace mqbridge {

/// A process that a stub holds, attached until release() or the destructor, whichever comes first.
class LiveProcess final : public ProcessSource {
public:
  /// `client` is attached to it, and outlives this. `root`: its root() on this host. `pid_here`:
  /// its number there; 0: not known to run here. Then auxiliary_vector() finds its root(), if it
  /// does.
  LiveProcess(rsp::Client& client, const rsp::Attachment& attachment,
              std::shared_ptr<const ProcessRoot> root = nullptr, std::int64_t pid_here = 0);
  ~LiveProcess() override;

  const std::string& name() const override { return client_.endpoint().text; }
  bool is_alive() const override { return true; }
  std::int64_t pid() const override { return pid_; }
  bool has_real_pid() const override { return client_.features().vfile; }
  Memory& memory() override { return zeros_ ? static_cast<Memory&>(*zeros_) : stub_; }
  rsp::LinkEstimate link_estimate() const override { return client_.link_estimate(); }
  std::optional<Error> doubtful_memory() const override;
  void expect_memory(std::span<const MappedRange> ranges) override;
  Result<std::optional<std::string>> executable() override;
  std::shared_ptr<const ProcessRoot> root() const override { return root_; }
  RunningFile running_file(TargetAddress header) override;
  Result<std::optional<std::string>> auxiliary_vector() override;
  Result<std::string> architecture() override;
  Result<std::optional<std::vector<LoadedObject>>>
  loaded_objects(std::uint64_t last_address) override;
  Result<std::string> environment() override { return files_.environment(); }
  void expect_threads() override { threads_.expect(); }
  Result<std::vector<ProcessThread>> threads(std::size_t most_registers) override {
    return threads_.read(most_registers);
  }
  std::optional<MemoryMap> take_new_map(const Platform& platform) override;
  void advance() override;
  void expect_objects(std::size_t count) override { files_.expect_objects(count); }
  bool reads_files() const override { return client_.features().vfile; }
  Result<void> fetch_files(FileFetcher& fetcher, std::span<WantedFile> wanted,
                           const FileDownload::Agrees& agrees, const FetchContext& context,
                           std::vector<Error>& faults) override;
  void look_for_life() override;
  Result<void> release() override;

private:
  Result<std::optional<std::string>> read_announced(bool announced, std::string_view object);

  rsp::Client& client_;
  const std::int64_t pid_;
  std::shared_ptr<const ProcessRoot> root_;
  const std::int64_t pid_here_;
  std::optional<std::string> maps_here_; ///< of this stop
  bool attached_ = true;
  ProcessFiles files_;
  ProcessThreads threads_;
  StubMemory stub_;
  std::optional<ZeroWatch> zeros_; ///< where zeros may be reads that failed
};

} // namespace mqbridge
