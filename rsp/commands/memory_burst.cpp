#include "rsp/commands/memory_burst.h"

#include "rsp/client/quirks.h"
#include "rsp/codes.h"
#include "rsp/exchange/step_marker.h"
#include "rsp/packet/packet_history.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

/// Requests between two markers: few enough that little is read twice, and enough that the markers
/// cost nothing.
constexpr std::size_t marker_distance = 64;

} // namespace

MemoryBurst::MemoryBurst(std::span<JoinedRange> ranges, const Features& features, MemoryFile& file,
                         PairingChecks pairing, Onlooker onlooker)
    : features_(features), file_(file), pairing_(std::move(pairing)), watcher_(onlooker.watcher),
      plan_(ranges, features, file, onlooker, pairing_.careful), outcomes_(features, onlooker),
      check_(file) {}

bool MemoryBurst::next(std::string& payload) {
  if (unmarked_ >= (pairing_.careful ? 1 : marker_distance) && ask_marker(payload))
    return true;
  const bool must_wait = pairing_.careful && !questions_.empty();
  return !must_wait && (ask_check(payload) || ask_pieces(payload) || ask_marker(payload));
}

/// The check is asked right behind the piece itself.
bool MemoryBurst::ask_check(std::string& payload) {
  if (!check_.ask(payload))
    return false;
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
  const auto read = plan_.next();
  if (!read)
    return false;
  const MemoryPiece& first = read->pieces.front();
  if (read->form == ReadForm::file)
    file_.append_request(payload, first.address, first.length);
  else
    append_request(payload, read->form, read->pieces);
  if (!pairing_.careful)
    check_.offer(first);
  pieces_.insert(pieces_.end(), read->pieces.begin(), read->pieces.end());
  questions_.push_back({Question::Kind::read, read->form, read->pieces.size()});
  ++unmarked_;
  return true;
}

Result<void> MemoryBurst::take(std::string_view reply) {
  const Question question = questions_.front();
  questions_.pop_front();
  auto taken = take_reply_to(question, reply);
  if (taken && watcher_ != nullptr)
    watcher_->look();
  return taken;
}

Result<void> MemoryBurst::take_reply_to(const Question& question, std::string_view reply) {
  if (question.kind == Question::Kind::check) {
    check_.take(reply, got_.front());
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
    outcomes_.note(question.form, answered_[i], got_[i]);
  const bool cut_short = got_.front() && *got_.front() < answered_.front().length;
  const bool is_whole =
      quirks_of(features_.kind).reads_whole_or_not && question.form != ReadForm::file;
  if (cut_short && !pairing_.careful && is_whole) {
    return fail(codes::stub_garbage, fmt::format("{} bytes came instead of {}", *got_.front(),
                                                 answered_.front().length));
  }
  return {};
}

/// The replies that came are known to belong to their requests: counts them.
Result<void> MemoryBurst::settle() {
  if (anomaly_) {
    certain_ = true;
    return Failure(*anomaly_);
  }
  outcomes_.settle();
  return {};
}

Failure MemoryBurst::out_of_step(Error why) {
  why.code = codes::stub_garbage;
  why.message = fmt::format("replies do not fit the reads they should answer: {}", why.message);
  why.hint = "what passes the bytes on between here and the stub damages them: connect without it; "
             "--trace FILE shows every packet";
  return Failure(std::move(why));
}

} // namespace mqbridge::rsp
