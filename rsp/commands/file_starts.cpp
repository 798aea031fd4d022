#include "rsp/commands/file_starts.h"

#include "rsp/commands/short_pieces.h"
#include "rsp/commands/vfile_reply.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace mqbridge::rsp {
namespace {

/// Files that are open at once. A process may usually have 1,024, and a stub needs a few itself.
constexpr std::size_t open_at_once = 512;
/// A page of the kernel's, and what a line that did not fit may leave empty of it.
constexpr std::size_t page = 4096;
constexpr std::size_t cut_short = 512;
/// Bytes that are asked for before it is known how long a file is.
constexpr std::size_t first_bytes = std::size_t{16} << 10;
constexpr std::size_t first_bytes_by_pages = std::size_t{48} << 10;
/// Of one file in one round.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// The protocol's own numbers (GDB manual, "Errno Values"); what it has no number for, such as
/// ESRCH of a process that has ended, is `unknown`.
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
  OpenStart(const FileStart& wanted, FileText& result, std::uint64_t descriptor,
            std::size_t longest_read)
      : wanted_(wanted), result_(result), descriptor_(descriptor),
        piece_(wanted.by_pages ? std::min(page, longest_read) : longest_read),
        bytes_(wanted.by_pages ? first_bytes_by_pages : first_bytes) {}

  bool ended() const { return ended_; }
  std::uint64_t descriptor() const { return descriptor_; }

  /// The requests of the next round, behind those that are in `requests`.
  void ask(std::vector<std::string>& requests) {
    const auto& text = result_.text;
    const auto end = std::min(wanted_.count, text.size() + bytes_);
    // Pieces of a list overlap by what a read may stay short of them, so that they join.
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
    // A reply holds half of what was asked for even if every byte needs two: less is the end. Of a
    // list the next line may not have fitted.
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
  FileText& result_;
  std::uint64_t descriptor_;
  std::size_t piece_; ///< bytes of one read
  std::size_t bytes_; ///< that the next round asks for
  std::vector<Piece> asked_;
  ShortPieces short_pieces_;
  bool ended_ = false;
};

/// Reads files a batch at a time. What is closed leaves with the next batch's first exchange, or
/// with whatever is asked of the stub later.
class StartsReader {
public:
  StartsReader(Client& client, std::span<const FileStart> files)
      : client_(client), files_(files), texts_(files.size()) {}

  Result<std::vector<FileText>> read() {
    client_.send_along("vFile:setfs:0");
    for (std::size_t i = 0; i < files_.size(); ++i)
      left_.push_back(i);
    while (!left_.empty()) {
      if (auto opened = open_batch(); !opened)
        return forward(std::move(opened));
      while (!open_.empty())
        if (auto done = read_round(); !done)
          return forward(std::move(done));
    }
    return std::move(texts_);
  }

private:
  Result<void> open_batch() {
    const auto first = std::exchange(left_, {});
    const auto count = std::min(first.size(), batch_);
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < count; ++i)
      requests.push_back(fmt::format("vFile:open:{},0,0", encode_hex(files_[first[i]].path)));
    const auto replies = client_.burst(requests);
    if (!replies)
      return Failure(replies.error());
    for (std::size_t i = 0; i < count; ++i)
      if (auto done = take_opened(first[i], (*replies)[i]); !done)
        return done;
    left_.insert(left_.end(), first.begin() + static_cast<std::ptrdiff_t>(count), first.end());
    return {};
  }

  Result<void> take_opened(std::size_t index, const std::string& reply) {
    if (reply.empty())
      return fail("vfile.unsupported",
                  fmt::format("{}: the stub reads no files", client_.endpoint().text),
                  "use gdbserver 7.6 or later");
    const auto opened = parse_file_reply(reply);
    if (!opened)
      return {}; // FileText::State::failed
    if (opened->result >= 0) {
      open_.emplace_back(files_[index], texts_[index], static_cast<std::uint64_t>(opened->result),
                         file_piece_size(client_));
      return {};
    }
    const bool no_room = opened->error == too_many || opened->error == too_many_in_system;
    if (no_room && !open_.empty()) { // once those before it are closed
      left_.push_back(index);
      batch_ = open_.size();
      return {};
    }
    texts_[index].state = state_of(opened->error);
    return {};
  }

  Result<void> read_round() {
    std::vector<std::string> requests;
    for (auto& file : open_)
      file.ask(requests);
    const auto replies = client_.burst(requests);
    if (!replies)
      return Failure(replies.error());
    std::span<const std::string> rest = *replies;
    for (auto& file : open_) {
      file.take(rest);
      if (file.ended())
        client_.send_along(fmt::format("vFile:close:{:x}", file.descriptor()));
    }
    std::vector<OpenStart> reading;
    for (auto& file : open_)
      if (!file.ended())
        reading.push_back(std::move(file));
    open_.swap(reading);
    return {};
  }

  Client& client_;
  std::span<const FileStart> files_;
  std::vector<FileText> texts_;
  std::vector<std::size_t> left_; ///< of `files_`, not opened yet
  std::size_t batch_ = open_at_once;
  std::vector<OpenStart> open_;
};

} // namespace

Result<std::vector<FileText>> read_file_starts(Client& client, std::span<const FileStart> files) {
  return StartsReader(client, files).read();
}

} // namespace mqbridge::rsp
