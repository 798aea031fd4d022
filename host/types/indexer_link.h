#pragma once

#include "host/confined/confined_process.h"
#include "host/types/indexer_channel.h"
#include "host/types/indexer_options.h"
#include "rsp/result.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// A running mqbridge-indexer; killed with this.
class IndexerLink final : public IndexerChannel {
public:
  /// `file`: what it is to read, for messages. Error: worker.start.
  static Result<std::unique_ptr<IndexerLink>> start(const IndexerOptions& options,
                                                    std::filesystem::path file);

  Result<void> send(const wire::Encoder& message) override;
  Result<void> send(const wire::Encoder& message, const FileDescriptor& descriptor) override;
  /// From now on it has the options' patience.
  void begin_answer() override;
  Failure protocol_violation() override;

private:
  IndexerLink(const IndexerOptions& options, std::filesystem::path file,
              sandbox::ConfinedProcess process)
      : patience_(options.patience), program_(options.program), file_(std::move(file)),
        process_(std::move(process)) {}

  /// Errors: dwarf.timeout, dwarf.crashed, dwarf.protocol; stop.limit and interrupted, when this
  /// thread's work is over (WorkScope).
  Result<std::span<const std::byte>> next_message() override;
  Result<void> wait();
  void take_output();
  sandbox::WaitStatus end(int patience_ms);
  Failure overrun();
  Failure death();

  std::chrono::milliseconds patience_;
  std::filesystem::path program_;
  std::filesystem::path file_;
  sandbox::ConfinedProcess process_;
  std::chrono::steady_clock::time_point deadline_;
  std::string last_words_; ///< of what it printed
  std::array<std::byte, wire::max_message> buffer_;
};

} // namespace mqbridge
