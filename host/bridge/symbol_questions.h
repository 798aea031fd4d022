#pragma once

#include "rsp/exchange/connection.h"

#include <string>

namespace mqbridge {

/// qSymbol: behind each library a debugger asks whether the stub wants to know a symbol. A
/// gdbserver asks for the same one each time, until a library has it: that is answered here, and
/// the stub hears of it once the symbol is there. One thread.
class SymbolQuestions {
public:
  explicit SymbolQuestions(rsp::Connection& stub) : stub_(stub) {}

  /// The reply to a qSymbol packet. Errors: those of Connection.
  Result<std::string> answer(const std::string& packet);
  /// The process has run: the stub may want to know something else.
  void forget();

private:
  rsp::Connection& stub_;
  std::string asked_;    ///< the stub's question that was handed on and waits for its answer
  std::string unknown_;  ///< the one that no library could answer, and that ended its questions
  bool guessed_ = false; ///< `unknown_` was handed on, and the stub was not asked
};

} // namespace mqbridge
