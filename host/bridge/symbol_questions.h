#pragma once

#include "rsp/exchange/connection.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// qSymbol: behind each library a debugger asks whether the stub wants to know a symbol. A
/// gdbserver asks for the same one each time, until a library has it: that is answered here, and
/// the stub hears of it once the symbol is there. And it asks for some 70 symbols of the thread
/// library, one at a time, which it needs for thread-local variables alone: the debugger is asked
/// for them here, and the stub is told when the first such variable is. One thread.
class SymbolQuestions {
public:
  explicit SymbolQuestions(rsp::Connection& stub) : stub_(stub) {}

  /// The reply to a qSymbol packet, about the process that is `selected`. Errors: those of
  /// Connection, and so below.
  Result<std::string> answer(const std::string& packet, std::string_view selected);
  /// The stub waits for an answer: of memory it takes `m` alone.
  bool waits() const { return !asked_.empty(); }
  /// Before qGetTLSAddr of a thread of `process`: the stub learns the symbols.
  Result<void> tell(std::string_view process);
  /// The process has run: the stub may want to know something else.
  void forget();
  /// It is another program now, or gone.
  void forget_program();

private:
  std::string collect(const std::string& packet);
  Result<std::string> put_off(const std::string& question);

  rsp::Connection& stub_;
  std::string asked_;    ///< the stub's question that was handed on and waits for its answer
  std::string unknown_;  ///< the one that no library could answer, and that ended its questions
  bool guessed_ = false; ///< `unknown_` was handed on, and the stub was not asked
  /// By process, the answers that the stub has not heard, by their names, in hexadecimal digits.
  std::map<std::string, std::map<std::string, std::string>> values_;
  std::string process_;                   ///< about which the debugger was asked
  std::optional<std::size_t> collecting_; ///< the debugger was asked for the symbol of this number
  bool is_settled_ = false;               ///< the stub has no other question in this stop
};

} // namespace mqbridge
