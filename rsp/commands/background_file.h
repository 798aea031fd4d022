#pragma once

#include "rsp/client/client.h"
#include "rsp/commands/short_pieces.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

/// A file of the stub's own file system, read beside other exchanges: the packets of each step
/// (vFile: open, pread..., close) are asked ahead, and cost no round trip as long as other
/// exchanges are made.
///
/// Meant for files of /proc. Nobody knows their size; a read may give any part of the bytes asked
/// for, and only a read that gives nothing is the end. The file must not change meanwhile: its
/// process stands still.
class BackgroundFile {
public:
  struct Expectation {
    std::size_t size = 0;      ///< bytes that the file will probably have; asked for at once
    std::size_t one_read = 0;  ///< most bytes that one read gives; 0: as many as are wanted
    std::size_t cut_short = 0; ///< bytes that a read may stay below one_read
    std::size_t limit = 0;     ///< a longer file is not read to its end
  };

  /// Asks for it to be opened. `client` outlives the file, which needs Client::asks_ahead().
  BackgroundFile(Client& client, std::string_view path, const Expectation& expected);

  /// Sets a better estimate of the size. It has effect until the file is opened.
  void expect_size(std::size_t bytes) { expected_.size = bytes; }
  /// Takes the answers that have come, and asks for what follows. No exchange.
  void advance();
  /// Exchanges until the file is read or has failed. Errors: those of Client::burst.
  Result<void> finish();
  /// Nobody wants the rest: closed with the next exchange, if it is open. No exchange.
  void give_up();

  /// There is nothing more to come.
  bool ended() const { return state_ == State::complete || state_ == State::failed; }
  /// text() is all of it.
  bool complete() const { return state_ == State::complete; }
  /// The last read gave less than was asked for: text() may well be the whole file.
  bool ran_short() const { return ran_short_; }
  /// From its start, as far as it has come.
  const std::string& text() const { return text_; }

private:
  enum class State : std::uint8_t { opening, reading, complete, failed };
  struct Piece {
    std::size_t offset;
    std::string request;
  };

  void take_open(std::string_view reply);
  void take_pieces();
  void join(std::size_t offset, std::string_view bytes);
  void ask_from(std::size_t first, std::size_t last);
  void end(State how);

  ShortPieces short_pieces_;
  Client& client_;
  std::string path_;
  std::string open_request_;
  Expectation expected_;
  std::size_t piece_; ///< bytes of one pread
  State state_ = State::opening;
  std::uint64_t descriptor_ = 0;
  std::vector<Piece> asked_;
  bool ran_short_ = false;
  std::size_t seen_ = 0; ///< where the furthest piece that has come ends
  std::string text_;
};

} // namespace mqbridge::rsp
