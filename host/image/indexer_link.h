#pragma once

#include "host/image/file_descriptor.h"
#include "host/image/indexer_options.h"
#include "host/image/indexer_wire.h"
#include "host/sandbox/confined_process.h"
#include "rsp/result.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace mqbridge {

/// A running mqbridge-indexer and the messages to and from it; killed with this. An error of any
/// call is the end of it. Any thread, one at a time.
class IndexerLink {
public:
  /// `file`: what it is to read, for messages. Error: worker.start.
  static Result<IndexerLink> start(const IndexerOptions& options, std::filesystem::path file);

  Result<void> send(const wire::Encoder& message);
  Result<void> send(const wire::Encoder& message, const FileDescriptor& descriptor);

  /// From now on it has the options' patience.
  void begin_answer();
  /// The next message, without its kind; valid until the next call. Errors: dwarf.timeout,
  /// dwarf.crashed, dwarf.protocol; stop.limit and interrupted, when this thread's work is over
  /// (WorkScope).
  Result<wire::Decoder> receive(wire::IndexerKind& kind);

  /// dwarf.protocol: what it sent makes no sense.
  Failure protocol_violation();

private:
  IndexerLink(const IndexerOptions& options, std::filesystem::path file,
              sandbox::ConfinedProcess process)
      : patience_(options.patience), program_(options.program), file_(std::move(file)),
        process_(std::move(process)) {}

  Result<void> wait();
  void take_output();
  int end(int patience_ms);
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
