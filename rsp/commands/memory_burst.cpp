#include "rsp/commands/memory_burst.h"

#include "rsp/codes.h"
#include "rsp/exchange/step_marker.h"
#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace mqbridge::rsp {
namespace {

/// Requests between two markers: few enough that little is read twice, and enough that the markers
/// cost nothing.
constexpr std::size_t marker_distance = 64;
/// Of a careful burst. Behind it all goes fast again.
constexpr std::size_t careful_requests = 32;

/// What a request for many ranges takes at most: a packet of a kilobyte.
constexpr std::size_t most_ranges = 40;

/// Whether the stub refuses a read as a whole when a part of it cannot be read.
bool all_or_nothing(StubKind kind) {
  return kind == StubKind::gdbserver || kind == StubKind::qemu_user ||
         kind == StubKind::qemu_system;
}

/// What escapes may make of so many bytes, and the frame.
bool may_not_fit(std::size_t length, const Features& features) {
  constexpr std::size_t frame = 8;
  return 2 * length + frame > features.packet_size;
}

} // namespace

MemoryBurst::MemoryBurst(std::span<JoinedRange> ranges, const Features& features, MemoryFile& file,
                         PairingChecks pairing, Onlooker onlooker)
    : ranges_(ranges), features_(&features), file_(&file), pairing_(std::move(pairing)),
      onlooker_(onlooker) {
  for (JoinedRange& range : ranges_)
    range.begin_burst();
}

bool MemoryBurst::next(std::string& payload) {
  if (unmarked_ >= (pairing_.careful ? 1 : marker_distance) && ask_marker(payload))
    return true;
  const bool must_wait = pairing_.careful && !questions_.empty();
  return !must_wait && (ask_check(payload) || ask_pieces(payload) || ask_marker(payload));
}

/// Right behind the piece itself.
bool MemoryBurst::ask_check(std::string& payload) {
  if (!check_due_)
    return false;
  check_due_ = false;
  file_->append_request(payload, to_check_->address, to_check_->length);
  questions_.push_back({.kind = Question::Kind::check});
  return true;
}

bool MemoryBurst::ask_marker(std::string& payload) {
  if (!pairing_.marked || unmarked_ == 0)
    return false;
  unmarked_ = 0;
  payload = step_question;
  questions_.push_back({.kind = Question::Kind::marker});
  return true;
}

bool MemoryBurst::ask_pieces(std::string& payload) {
  if (pairing_.careful && asked_ == careful_requests)
    return false;
  const auto first = next_piece(std::numeric_limits<std::size_t>::max());
  if (!first)
    return false;
  std::vector<MemoryPiece> asked{*first};
  ReadForm form = form_for(*first);
  if (features_->multi_mem_read && !pairing_.careful) {
    gather_more(asked);
    form = asked.size() > 1 ? ReadForm::many : form;
  }
  if (form == ReadForm::file)
    file_->append_request(payload, first->address, first->length);
  else
    append_request(payload, form, asked);
  if (!pairing_.careful && file_->begin_check(first->address, first->length)) {
    to_check_ = first;
    check_due_ = true;
  }
  pieces_.insert(pieces_.end(), asked.begin(), asked.end());
  questions_.push_back({Question::Kind::read, form, asked.size()});
  ++asked_;
  ++unmarked_;
  return true;
}

/// Takes further small pieces into the request for the last one.
void MemoryBurst::gather_more(std::vector<MemoryPiece>& pieces) {
  const std::size_t room = features_->max_hex_read();
  std::size_t taken = pieces.back().length;
  for (std::size_t count = 1; count < most_ranges && taken < room; ++count) {
    const auto more = next_piece(room - taken);
    if (!more)
      return;
    taken += more->length;
    pieces.push_back(*more);
  }
}

/// Nullopt: there is none, or it is longer than `longest`.
std::optional<MemoryPiece> MemoryBurst::next_piece(std::size_t longest) {
  for (; next_range_ < ranges_.size(); ++next_range_) {
    JoinedRange& range = ranges_[next_range_];
    const std::size_t whole = range.next_piece();
    if (whole > longest)
      return std::nullopt;
    if (whole > 0) {
      const std::size_t length = wanted(range, whole);
      if (length == 0)
        return std::nullopt;
      const std::uint64_t address = range.next_address();
      return MemoryPiece{&range, address, length, range.asked(length)};
    }
  }
  return std::nullopt;
}

/// How many of the next `length` bytes, which may be of several requests, the watcher wants.
std::size_t MemoryBurst::wanted(const JoinedRange& range, std::size_t length) {
  if (onlooker_.watcher == nullptr)
    return length;
  std::size_t wanted = 0;
  for (RangePlace place = range.next_place(); wanted < length;) {
    const RangePlace from = place;
    const std::size_t here = range.room(place, length - wanted).size();
    const auto request = range.number_of(from.request, onlooker_.first);
    const std::size_t of_these = std::min(onlooker_.watcher->wants(request, from.offset), here);
    wanted += of_these;
    if (of_these < here)
      break;
  }
  held_back_ = wanted == 0;
  return wanted;
}

ReadForm MemoryBurst::form_for(const MemoryPiece& piece) const {
  // Where a hole begins is for `m` to say: not for a file, nor for a reply that may be too long.
  const bool narrowing = piece.range->scan().narrowing();
  if (!pairing_.careful && !narrowing && file_->serves(piece.address, piece.length))
    return ReadForm::file;
  if (narrowing && may_not_fit(piece.length, *features_))
    return ReadForm::hex;
  // LLDB's binary replies have no prefix: three bytes of memory may read "E01".
  constexpr std::size_t ambiguous = 3;
  switch (features_->binary_read) {
  case BinaryRead::gdb:
    return ReadForm::binary;
  case BinaryRead::lldb:
    return piece.length <= ambiguous ? ReadForm::hex : ReadForm::bare_binary;
  case BinaryRead::none:
    break;
  }
  return ReadForm::hex;
}

Result<void> MemoryBurst::take(std::string_view reply) {
  const Question question = questions_.front();
  questions_.pop_front();
  auto taken = take_reply_to(question, reply);
  if (taken && onlooker_.watcher != nullptr)
    onlooker_.watcher->look();
  return taken;
}

Result<void> MemoryBurst::take_reply_to(const Question& question, std::string_view reply) {
  if (question.kind == Question::Kind::check) {
    if (got_.front() == to_check_->length)
      file_->take_check(to_check_->address, to_check_->length, reply,
                        [&](std::string_view bytes) { return is_in_place(*to_check_, bytes); });
    else
      file_->skip_check();
    return {};
  }
  if (question.kind == Question::Kind::marker) {
    if (is_step_answer(reply))
      return settle();
    return out_of_step({codes::stub_garbage,
                        fmt::format("'{}' was answered with '{}'", step_question, shorten(reply))});
  }
  if (auto taken = take_data(question, reply); !taken) {
    if (!pairing_.careful)
      return out_of_step(std::move(taken).error());
    anomaly_ = std::move(taken).error();
  }
  if (pairing_.marked)
    return {};
  if (pairing_.in_doubt())
    return out_of_step({codes::stub_garbage, "a reply came that nobody has asked for"});
  return settle();
}

Result<void> MemoryBurst::take_data(const Question& question, std::string_view reply) {
  answered_.assign(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(question.pieces));
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(question.pieces));
  got_.assign(question.pieces, std::nullopt);
  if (auto taken = take_reply(question.form, answered_, reply, got_); !taken)
    return taken;
  for (std::size_t i = 0; i < question.pieces; ++i)
    note(question, answered_[i], got_[i]);
  const bool cut_short = got_.front() && *got_.front() < answered_.front().length;
  const bool is_whole = all_or_nothing(features_->kind) && question.form != ReadForm::file;
  if (cut_short && !pairing_.careful && is_whole) {
    return fail(codes::stub_garbage, fmt::format("{} bytes came instead of {}", *got_.front(),
                                                 answered_.front().length));
  }
  return {};
}

void MemoryBurst::note(const Question& question, const MemoryPiece& piece, PieceBytes got) {
  const bool binary = question.form == ReadForm::binary || question.form == ReadForm::bare_binary;
  const bool doubtful =
      question.form == ReadForm::file || (binary && may_not_fit(piece.length, *features_));
  unsettled_.push_back({piece.range, piece.address, piece.length, got, doubtful});
  if (!got || *got < piece.length)
    piece.range->fell_short();
}

/// What has come is what was asked for.
Result<void> MemoryBurst::settle() {
  if (anomaly_) {
    certain_ = true;
    return Failure(*anomaly_);
  }
  for (const Outcome& outcome : unsettled_) {
    MemoryScan& scan = outcome.range->scan();
    // Behind a piece that came short, what else was read ahead does not join on.
    if (scan.address() != outcome.address)
      continue;
    if (outcome.got)
      scan.succeeded(outcome.asked, *outcome.got);
    else
      scan.failed(outcome.asked, outcome.doubtful);
  }
  progressed_ |= !unsettled_.empty();
  if (onlooker_.watcher != nullptr)
    tell();
  unsettled_.clear();
  return {};
}

void MemoryBurst::tell() {
  const JoinedRange* told = nullptr;
  for (const Outcome& outcome : unsettled_) {
    if (outcome.range != told)
      outcome.range->tell(onlooker_.first, *onlooker_.watcher);
    told = outcome.range;
  }
}

Failure MemoryBurst::out_of_step(Error why) {
  why.code = codes::stub_garbage;
  why.message = fmt::format("replies do not fit the reads they should answer: {}", why.message);
  why.hint = "what passes the bytes on between here and the stub damages them: connect without it; "
             "--trace FILE shows every packet";
  return Failure(std::move(why));
}

} // namespace mqbridge::rsp
