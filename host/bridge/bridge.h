#pragma once

#include "host/bridge/foreseen.h"
#include "host/bridge/guest.h"
#include "host/bridge/held_breakpoints.h"
#include "host/bridge/inferior_calls.h"
#include "host/bridge/kept_files.h"
#include "host/bridge/kept_memory.h"
#include "host/bridge/kept_objects.h"
#include "host/bridge/symbol_questions.h"
#include "host/bridge/thread_answers.h"
#include "host/bridge/written_breakpoints.h"
#include "rsp/exchange/connection.h"
#include "rsp/server/bell.h"
#include "rsp/server/door.h"
#include "rsp/unique_fd.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mqbridge {

/// What `monitor mpi ...` of a debugger leads to: a text, or a program that prints it, and that may
/// look at the process by the bridge's own door.
using MonitorAnswer = std::variant<std::string, std::vector<std::string>>;

/// What a bridge needs beside the stub.
struct BridgeOptions {
  /// Where files of targets stay until the next session, as cache_root(); nullopt: nowhere.
  std::optional<std::filesystem::path> cache = {};
  /// Of a stub that holds no process yet, the one to attach to.
  std::optional<std::int64_t> process = {};
  /// By the words behind `monitor mpi`.
  std::function<MonitorAnswer(std::string_view words)> monitor = {};
  /// Interrupts the process where the stub does not; null: there is no other way.
  std::function<void()> interrupt = {};
};

/// Stands between a debugger and a stub, and makes the way between them short: what is read comes
/// in bursts, and is kept for as long as it cannot have changed; breakpoints that a debugger takes
/// out at a stop and puts in again stay in. All other packets pass as they are, in order.
///
/// The debugger holds the process. When it leaves without a word, the process is let go: its
/// breakpoints are taken out before. The guardian does the same when this program dies. While the
/// process stands still, others may look at it (Guest): in turn, while the debugger is silent. One
/// thread.
class Bridge {
public:
  /// `stub` was asked nothing yet. `door`: where others come in; its bell is `bell`. All of them
  /// outlive this.
  Bridge(rsp::Connection& stub, rsp::Door& door, rsp::Bell& bell, BridgeOptions options);

  enum class End : std::uint8_t {
    over,     ///< nothing is held any more
    vanished, ///< the debugger has left without a word: the process stands still, and nothing is
              ///< in it
  };
  /// Until the debugger detaches, kills, or leaves; `stop`: it is sent away. Errors: those of
  /// Connection, and attach.refused (the stub does not attach to the process).
  Result<End> serve(rsp::UniqueFd debugger, const std::stop_token& stop);
  /// Lets the processes run that are still held. Errors: those of Connection, detach.refused.
  Result<void> release();

private:
  class Talk;
  enum class Then : std::uint8_t { go_on, end };
  Result<Then> answer(Talk& talk, const std::string& packet);
  Result<std::string> negotiate(const std::string& packet);
  Result<void> attach();
  Result<void> foresee();
  Result<std::string> run(Talk& talk, const std::string& packet);
  Result<std::string> look(const std::string& packet);
  Result<std::string> read_memory(const std::string& packet);
  Result<std::string> read_file(const std::string& packet);
  Result<std::string> read_object(const std::string& packet);
  Result<std::string> change(const std::string& packet);
  Result<std::string> write(const std::string& packet);
  Result<void> restart(const std::string& packet);
  Result<std::string> select(const std::string& packet);
  Result<std::string> ask_threads(const std::string& question);
  Result<std::string> say_farewell(const std::string& packet);
  Result<std::string> leave(const std::string& packet);
  Result<std::optional<std::string>> monitor(rsp::Debugger& debugger, const std::string& packet);
  Result<void> attend(bool admits, const std::function<bool()>& is_over);
  Result<void> dismiss();
  Result<void> calm(const std::string& process, bool is_last);
  Result<void> take_back_interrupt();
  Result<void> refuse_files();
  bool stands_still() const;
  void learn_process(const std::string& stop_reply);
  void take_process(std::string process);
  void no_longer_held(const std::string& farewell);
  std::vector<std::string> farewells() const;
  void know_mappings();
  void process_ran();
  void forget_program(const std::string& process);
  Result<void> know_platform();

  rsp::Connection& stub_;
  rsp::Door& door_;
  rsp::Bell& bell_;
  BridgeOptions options_;
  HeldBreakpoints breakpoints_{stub_};
  WrittenBreakpoints written_{stub_};
  InferiorCalls calls_{stub_};
  /// Of the selected process. nullopt: not asked yet, and inside: not to be known.
  std::optional<std::optional<Platform>> platform_;
  std::optional<std::uint64_t> entry_; ///< of its program, once that was asked; else not known
  Foreseen foreseen_{stub_};
  KeptObjects objects_{foreseen_};
  KeptFiles files_{stub_, options_.cache};
  KeptMemory memory_{stub_};
  SymbolQuestions symbols_{stub_};
  ThreadAnswers threads_{stub_};
  ForGuests for_guests_;
  std::optional<Guest> guest_;
  std::string selected_;           ///< the process that the debugger's last selection named
  std::atomic<bool> runs_ = false; ///< the process: what the debugger says ends the waiting
  bool multiprocess_ = false;
  bool is_extended_ = false; ///< the stub stays when it holds no process any more
  std::size_t packet_size_ = 0;
  bool keeps_interrupt_ = false; ///< the stub: one that came when the process stood still
  bool asks_for_files_ = false;  ///< the process, of the debugger's host, and waits (packet F)
  bool foresees_ = false;        ///< the debugger has just connected
  bool over_ = false;            ///< nothing is held any more
};

} // namespace mqbridge
