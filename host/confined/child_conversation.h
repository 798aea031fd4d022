#pragma once

#include "host/confined/confined_process.h"
#include "host/confined/conversation.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace mqbridge::sandbox {

/// The task of a child, and the words and codes for its failures.
struct Errand {
  std::filesystem::path program;
  std::chrono::milliseconds patience; ///< for one answer
  std::string doing;                  ///< "read the types of FILE": "... died while it ..."
  std::string hint;
  // Codes.
  std::string_view crashed;
  std::string_view timeout;
  std::string_view protocol;
};

/// A conversation with a process of ours, which is killed with this object.
class ChildConversation final : public Conversation {
public:
  /// Error: worker.start.
  static Result<std::unique_ptr<ChildConversation>> start(Errand errand);

  Result<void> send(const wire::Encoder& message) override;
  Result<void> send(const wire::Encoder& message, const FileDescriptor& descriptor) override;
  void begin_answer() override;
  Failure protocol_violation() override;

private:
  ChildConversation(Errand errand, ConfinedProcess process)
      : errand_(std::move(errand)), process_(std::move(process)) {}

  /// Errors: those of the errand; stop.limit and interrupted, if this thread has no more time for
  /// its work (WorkScope).
  Result<std::span<const std::byte>> next_message() override;
  Result<void> wait();
  void take_output();
  WaitStatus end(int patience_ms);
  Failure overrun();
  Failure death();
  std::string program() const { return errand_.program.filename().string(); }

  Errand errand_;
  ConfinedProcess process_;
  std::chrono::steady_clock::time_point deadline_;
  std::string last_words_; ///< the last lines that it printed
  std::array<std::byte, wire::max_message> buffer_;
};

} // namespace mqbridge::sandbox
