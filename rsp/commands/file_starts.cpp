#include "rsp/commands/file_starts.h"

#include "rsp/commands/short_pieces.h"
#include "rsp/commands/vfile_reply.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

/// Files that are opened at once while as many others are read. A process usually may have 1,024
/// descriptors, and a stub needs a few itself.
constexpr std::size_t opened_at_once = 400;
/// Bytes at the end of a page that may stay empty because the next line did not fit.
constexpr std::size_t cut_short = 512;
/// Bytes that are asked for before it is known how long a file is.
constexpr std::size_t first_bytes = std::size_t{16} << 10;
constexpr std::size_t first_bytes_by_pages = std::size_t{48} << 10;
/// Bytes of one file that are asked for in one round, at most.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// The protocol's own error numbers (GDB manual, "Errno Values"). An error without such a number,
/// for instance ESRCH of a process that has ended, is `unknown`.
enum FileError : std::uint64_t {
  no_permission = 1,
  no_entry = 2,
  access_denied = 13,
  too_many_in_system = 23,
  too_many = 24,
  unknown = 9999
};

FileText::State state_of(std::uint64_t error) {
  if (error == no_entry || error == unknown)
    return FileText::State::missing;
  const bool denied = error == no_permission || error == access_denied;
  return denied ? FileText::State::denied : FileText::State::failed;
}

/// One file that is open at the stub.
class OpenStart {
public:
  OpenStart(const FileStart& wanted, std::size_t index, std::uint64_t descriptor,
            std::size_t longest_read)
      : wanted_(wanted), index_(index), descriptor_(descriptor),
        piece_(wanted.by_pages ? std::min(limits::page, longest_read) : longest_read),
        bytes_(wanted.by_pages ? first_bytes_by_pages : first_bytes) {}

  bool ended() const { return ended_; }
  std::size_t index() const { return index_; }
  FileText& result() { return result_; }
  std::uint64_t descriptor() const { return descriptor_; }

  /// Appends the requests of the next round to `requests`.
  void ask(std::vector<std::string>& requests) {
    const auto& text = result_.text;
    const auto end = std::min(wanted_.count, text.size() + bytes_);
    // A read of a list may stay short by this much, so the pieces overlap by it and join.
    const auto step = wanted_.by_pages && piece_ > 2 * cut_short ? piece_ - cut_short : piece_;
    for (auto offset = text.size(); offset < end; offset += step) {
      const auto size = std::min(piece_, wanted_.count - offset);
      requests.push_back(fmt::format("vFile:pread:{:x},{:x},{:x}", descriptor_, size, offset));
      asked_.push_back({offset, size});
    }
    bytes_ = std::min(2 * bytes_, most_bytes);
    if (asked_.empty())
      end_as(FileText::State::read);
  }

  /// The answers to ask(), as many as there were requests.
  void take(std::span<const std::string>& replies) {
    for (const auto& [offset, size] : std::exchange(asked_, {})) {
      const auto& reply = replies.front();
      replies = replies.subspan(1);
      if (!ended_)
        take_piece(offset, size, reply);
    }
  }

private:
  struct Piece {
    std::size_t offset;
    std::size_t size;
  };

  void take_piece(std::size_t offset, std::size_t size, std::string_view reply) {
    auto& text = result_.text;
    if (const auto refused = parse_file_reply(reply); refused && refused->result < 0)
      return end_as(state_of(refused->error));
    const auto bytes = parse_file_piece(wanted_.path, reply, size);
    if (!bytes)
      return end_as(FileText::State::failed);
    if (offset > text.size()) // behind a gap, which is asked for again
      return;
    const auto behind = offset + bytes->size();
    const bool joins = behind > text.size();
    if (joins)
      text += bytes->substr(text.size() - offset);
    // Even if every byte needs two, a reply holds half of what was asked for; a shorter one is the
    // end. In a list, it may be shorter because the next line did not fit.
    result_.whole = behind == text.size() &&
                    (bytes->empty() || (!wanted_.by_pages && bytes->size() < size / 2));
    const bool trickles = joins && bytes->size() < size && !short_pieces_.take(text.size());
    if (result_.whole || text.size() >= wanted_.count)
      end_as(FileText::State::read);
    else if (trickles)
      end_as(FileText::State::failed);
  }

  void end_as(FileText::State state) {
    result_.state = state;
    ended_ = true;
  }

  const FileStart& wanted_;
  std::size_t index_;
  std::uint64_t descriptor_;
  FileText result_;
  std::size_t piece_; ///< bytes of one read
  std::size_t bytes_; ///< to ask for in the next round
  std::vector<Piece> asked_;
  ShortPieces short_pieces_;
  bool ended_ = false;
};

/// Each exchange reads the files that are open and opens the next ones. Files are closed with the
/// next exchange, whoever makes it.
class StartsReader {
public:
  StartsReader(Client& client, std::span<const FileStart> files, const TakeText& take)
      : client_(client), files_(files), take_(take) {
    for (std::size_t i = 0; i < files.size(); ++i)
      left_.push_back(i);
  }

  Result<void> read() {
    client_.send_along("vFile:setfs:0");
    while (!left_.empty() || !open_.empty()) {
      std::vector<std::string> requests;
      for (auto& file : open_)
        file.ask(requests);
      const auto opening = take_next();
      for (const auto index : opening)
        requests.push_back(fmt::format("vFile:open:{},0,0", encode_hex(files_[index].path)));
      const auto replies = client_.burst(requests);
      if (!replies)
        return Failure(replies.error());
      std::span<const std::string> rest = *replies;
      for (auto& file : open_)
        file.take(rest);
      deliver_ended();
      if (auto done = take_opened(opening, rest); !done)
        return done;
    }
    return {};
  }

private:
  /// Takes the files that are opened next.
  std::vector<std::size_t> take_next() {
    if (short_of_descriptors_ && !open_.empty())
      return {};
    const auto count = static_cast<std::ptrdiff_t>(std::min(left_.size(), batch_));
    std::vector<std::size_t> next(left_.begin(), left_.begin() + count);
    left_.erase(left_.begin(), left_.begin() + count);
    return next;
  }

  void deliver_ended() {
    std::vector<OpenStart> reading;
    for (auto& file : open_) {
      if (!file.ended()) {
        reading.push_back(std::move(file));
        continue;
      }
      client_.send_along(fmt::format("vFile:close:{:x}", file.descriptor()));
      take_(file.index(), std::move(file.result()));
    }
    open_.swap(reading);
  }

  Result<void> take_opened(std::span<const std::size_t> opening,
                           std::span<const std::string> replies) {
    const auto open_before = open_.size();
    std::vector<std::size_t> refused; // since the stub had no descriptor left
    for (std::size_t i = 0; i < opening.size(); ++i) {
      const auto opened = parse_file_reply(replies[i]);
      if (replies[i].empty())
        return fail("vfile.unsupported",
                    fmt::format("{}: the stub reads no files", client_.endpoint().text),
                    "use gdbserver 7.6 or later");
      if (opened && opened->result >= 0)
        open_.emplace_back(files_[opening[i]], opening[i],
                           static_cast<std::uint64_t>(opened->result), file_piece_size(client_));
      else if (opened && (opened->error == too_many || opened->error == too_many_in_system))
        refused.push_back(opening[i]);
      else
        take_(opening[i], {opened ? state_of(opened->error) : FileText::State::failed, {}, {}});
    }
    if (refused.empty())
      return {};
    const auto opened = open_.size() - open_before;
    if (opened != 0 || !short_of_descriptors_) { // from now on open files are closed first
      batch_ = std::max<std::size_t>(1, short_of_descriptors_ ? opened : open_.size());
      short_of_descriptors_ = true;
      left_.insert(left_.begin(), refused.begin(), refused.end());
      return {};
    }
    for (const auto index : refused)
      take_(index, {});
    return {};
  }

  Client& client_;
  std::span<const FileStart> files_;
  const TakeText& take_;
  std::deque<std::size_t> left_; ///< of `files_`, not opened yet
  std::size_t batch_ = opened_at_once;
  bool short_of_descriptors_ = false;
  std::vector<OpenStart> open_;
};

} // namespace

Result<void> read_file_starts(Client& client, std::span<const FileStart> files,
                              const TakeText& take) {
  return StartsReader(client, files, take).read();
}

} // namespace mqbridge::rsp
