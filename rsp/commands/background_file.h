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

/// A file of the stub's own file system, read beside other exchanges: what each step needs (vFile:
/// open, pread..., close) is asked ahead, and costs no round trip while others are made anyhow.
///
/// For files of /proc: their size is known to nobody, they give what they like of what is asked
/// for, and the end is only where a read gives nothing. The file must not change meanwhile: its
/// process stands still.
class BackgroundFile {
public:
  struct Expectation {
    std::size_t size = 0;      ///< bytes that it will probably have; asked for at once
    std::size_t one_read = 0;  ///< bytes that one read gives at the most; 0: as many as are wanted
    std::size_t cut_short = 0; ///< by how many of them a read may stay below that
    std::size_t limit = 0;     ///< a longer file is not read to its end
  };

  /// Asks for it to be opened. `client` outlives the file, which needs Client::asks_ahead().
  BackgroundFile(Client& client, std::string_view path, const Expectation& expected);

  /// Where more is known of it by now. Counts until it is opened.
  void expect_size(std::size_t bytes) { expected_.size = bytes; }
  /// Takes the answers that have come, and asks for what follows. No exchange.
  void advance();
  /// Exchanges what it takes to come to an end. Errors: those of Client::burst.
  Result<void> finish();
  /// Nobody wants the rest: closed with the next exchange, if it is open. No exchange.
  void give_up();

  /// There is nothing more to come.
  bool ended() const { return state_ == State::complete || state_ == State::failed; }
  /// text() is all of it.
  bool complete() const { return state_ == State::complete; }
  /// The last read gave less than was asked for: what has come may well be all.
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
  std::size_t seen_ = 0; ///< where the furthest piece ends that has come
  std::string text_;
};

} // namespace mqbridge::rsp
