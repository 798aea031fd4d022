#pragma once

#include "host/bridge/held_breakpoints.h"
#include "host/bridge/kept_files.h"
#include "host/bridge/kept_memory.h"
#include "host/bridge/kept_objects.h"
#include "host/bridge/symbol_questions.h"
#include "rsp/exchange/connection.h"
#include "rsp/server/debugger.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// Stands between a debugger and a stub, and makes the way between them short: what is read comes
/// in bursts, and is kept for as long as it cannot have changed; breakpoints that a debugger takes
/// out at a stop and puts in again stay in. All other packets pass as they are, in order.
///
/// The debugger holds the process. When it leaves without a word, the process is let go: its
/// breakpoints are taken out before. The guardian does the same when this program dies. One thread.
class Bridge {
public:
  /// `stub` was asked nothing yet, and outlives this. `process`: of a stub that holds none yet, the
  /// one to attach to.
  Bridge(rsp::Connection& stub, std::optional<std::int64_t> process);

  /// Until the debugger detaches, kills, or leaves. Errors: those of Connection, and attach.refused
  /// (the stub does not attach to `process`).
  Result<void> serve(rsp::Debugger& debugger);

private:
  class Talk;
  enum class Then : std::uint8_t { go_on, end };
  Result<Then> answer(Talk& talk, const std::string& packet);
  Result<std::string> negotiate(const std::string& packet);
  Result<std::string> attach(std::string reply);
  Result<std::string> run(Talk& talk, const std::string& packet);
  Result<std::string> look(const std::string& packet);
  Result<std::string> read_memory(const std::string& packet);
  Result<std::string> read_object(const std::string& packet);
  Result<std::string> change(const std::string& packet);
  Result<std::string> select(const std::string& packet);
  Result<std::string> leave(const std::string& packet);
  Result<void> release();
  Result<void> take_back_interrupt();
  void learn_process(const std::string& stop_reply);
  void no_longer_held(const std::string& farewell);
  std::vector<std::string> farewells() const;
  void process_ran();

  rsp::Connection& stub_;
  std::optional<std::int64_t> attach_to_;
  HeldBreakpoints breakpoints_{stub_};
  KeptObjects objects_{stub_};
  KeptFiles files_{stub_};
  KeptMemory memory_{stub_};
  SymbolQuestions symbols_{stub_};
  std::string selected_; ///< the process that the debugger's last selection named
  bool multiprocess_ = false;
  bool keeps_interrupt_ = false; ///< the stub: one that came when the process stood still
  bool over_ = false;            ///< nothing is held any more
};

} // namespace mqbridge
