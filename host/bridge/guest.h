#pragma once

#include "rsp/exchange/connection.h"
#include "rsp/server/bell.h"
#include "rsp/server/debugger.h"
#include "rsp/unique_fd.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace mqbridge {

/// What a guest is told instead of asking the stub again, and what it has to leave as it was.
struct ForGuests {
  std::string features;         ///< the stub's reply to qSupported
  std::string stop;             ///< its last stop reply
  std::string selection;        ///< the debugger's last `Hg...`; empty: none
  std::string root;             ///< whose file system the debugger has chosen (vFile:setfs)
  bool has_breakpoints = false; ///< a file of the process's memory would show them
  std::size_t packet_size = 0;
};

/// A second client of the stub, such as `mqbridge dump`, while the process stands still for a
/// debugger. It may look: all else, and its farewell, is kept from the stub. What it asks at once
/// leaves at once. One thread.
class Guest {
public:
  /// `stub` and `bell`, which is rung when there is something to serve, outlive this.
  Guest(rsp::UniqueFd client, rsp::Connection& stub, rsp::Bell& bell, ForGuests facts);

  /// Answers what has come, until `is_over`. False: it has left. Errors: those of Connection.
  Result<bool> serve(const std::function<bool()>& is_over);
  /// The stub is again as the debugger has left it. Errors: those of Connection.
  Result<void> leave();

private:
  class Questions;
  std::optional<std::string> own_answer(std::string_view packet) const;
  void note(std::string_view packet, std::string_view reply);

  rsp::Connection& stub_;
  ForGuests facts_;
  std::set<std::string> opened_; ///< descriptors at the stub
  bool has_selected_ = false;
  bool has_left_ = false;
  rsp::Debugger client_;
};

} // namespace mqbridge
