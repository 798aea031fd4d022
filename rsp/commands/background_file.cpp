#include "rsp/commands/background_file.h"

#include "rsp/commands/vfile_reply.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge::rsp {

BackgroundFile::BackgroundFile(Client& client, std::string_view path, const Expectation& expected)
    : client_(client), path_(path),
      open_request_(fmt::format("vFile:open:{},0,0", encode_hex(path))), expected_(expected),
      piece_(file_piece_size(client)) {
  if (expected_.one_read != 0)
    piece_ = std::min(piece_, expected_.one_read);
  client_.send_along("vFile:setfs:0");
  client_.ask_ahead(open_request_);
}

void BackgroundFile::advance() {
  if (state_ == State::opening) {
    if (const auto reply = client_.answer_ahead(open_request_))
      take_open(*reply);
  } else if (state_ == State::reading) {
    take_pieces();
  }
}

Result<void> BackgroundFile::finish() {
  advance();
  while (!ended()) {
    const auto before = client_.counters().requests;
    if (auto exchanged = client_.burst({}); !exchanged)
      return forward(std::move(exchanged));
    // The requests were forgotten because the target ran: no answer will come.
    if (client_.counters().requests == before)
      end(State::failed);
    advance();
  }
  return {};
}

void BackgroundFile::give_up() {
  advance();
  if (!ended())
    end(State::failed);
}

void BackgroundFile::take_open(std::string_view reply) {
  const auto opened = parse_file_reply(reply);
  if (!opened || opened->result < 0)
    return end(State::failed);
  descriptor_ = static_cast<std::uint64_t>(opened->result);
  state_ = State::reading;
  ask_from(0, std::min(expected_.size, expected_.limit));
}

/// Each piece overlaps the next one by as many bytes as a read may return too few: so the pieces
/// join even then.
void BackgroundFile::ask_from(std::size_t first, std::size_t last) {
  const auto step = piece_ > 2 * expected_.cut_short ? piece_ - expected_.cut_short : piece_;
  for (auto offset = first; offset == first || offset < last; offset += step) {
    auto request = fmt::format("vFile:pread:{:x},{:x},{:x}", descriptor_, piece_, offset);
    client_.ask_ahead(request);
    asked_.push_back({offset, std::move(request)});
  }
}

void BackgroundFile::take_pieces() {
  if (!client_.answered_ahead(asked_.back().request))
    return;
  bool at_end = false;
  for (const auto& [offset, request] : std::exchange(asked_, {})) {
    const auto reply = client_.answer_ahead(request).value_or("");
    const auto bytes = parse_file_piece(path_, reply, piece_);
    if (!bytes)
      return end(State::failed);
    ran_short_ = bytes->size() < piece_;
    at_end = at_end || (bytes->empty() && offset == text_.size());
    join(offset, *bytes);
  }
  if (at_end) // the file has changed if a piece behind it has bytes
    return end(seen_ == text_.size() ? State::complete : State::failed);
  const bool trickles = ran_short_ && !short_pieces_.take(text_.size());
  if (text_.size() > expected_.limit || trickles)
    return end(State::failed);
  ask_from(text_.size(), seen_); // at the file's end this read gives nothing
}

void BackgroundFile::join(std::size_t offset, std::string_view bytes) {
  const auto behind = bytes.empty() ? 0 : offset + bytes.size();
  seen_ = std::max(seen_, behind);
  if (offset <= text_.size() && behind > text_.size())
    text_ += bytes.substr(text_.size() - offset);
}

void BackgroundFile::end(State how) {
  if (state_ == State::reading)
    client_.send_along(fmt::format("vFile:close:{:x}", descriptor_));
  state_ = how;
}

} // namespace mqbridge::rsp
