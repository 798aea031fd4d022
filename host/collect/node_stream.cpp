#include "host/collect/node_stream.h"

#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <variant>

namespace mqbridge {
namespace {

/// Lines that could not be read, of one node: a few say all.
constexpr std::size_t most_troubles = 8;

} // namespace

void NodeStream::take(std::string_view line, const RankDone& rank_done) {
  if (is_over())
    return;
  if (host_ || is_greeting(line)) {
    if (const auto frame = parse_frame(line))
      take_frame(*frame, rank_done);
    else
      break_off(frame.error());
    return;
  }
  constexpr std::size_t most_noise = 2048;
  noise_ += line.substr(0, most_noise - std::min(most_noise, noise_.size()));
  if (noise_.size() < most_noise)
    noise_ += '\n';
}

void NodeStream::take_frame(const Frame& frame, const RankDone& rank_done) {
  switch (frame.kind) {
  case Frame::Kind::hello:
    greet(frame);
    break;
  case Frame::Kind::alive:
    break;
  case Frame::Kind::piece:
    take_text(frame.text);
    break;
  case Frame::Kind::last_piece:
    take_text(frame.text);
    if (!broken_)
      take_document_line(rank_done);
    text_ = {};
    break;
  }
}

void NodeStream::greet(const Frame& hello) {
  if (host_) {
    break_off({"collector.protocol", "it greets a second time, so that two of them may speak here",
               "look for what starts mqbridge twice on that node"});
    return;
  }
  host_ = hello.host;
  if (hello.version != version_)
    say({"collector.version",
         fmt::format("the mqbridge there is version {}, and this one {}", printable(hello.version),
                     version_),
         "--collector PATH: the mqbridge of this version, on the nodes"},
        RankError::Level::warning);
}

void NodeStream::take_text(std::string_view text) {
  text_ += text;
  if (text_.size() > most_bytes_)
    break_off({"collector.limit", "one line of what it says is longer than there is memory for",
               "take the dump with --rank, --comm or --max-operations"});
}

void NodeStream::take_document_line(const RankDone& rank_done) {
  ++lines_;
  auto line = reader_.line(text_);
  if (!line) {
    say({line.error().code,
         fmt::format("line {} of what it says: {}", lines_, line.error().message),
         line.error().hint});
  } else if (auto* const rank = std::get_if<RankDump>(&*line)) {
    ++ranks_;
    rank_done(std::move(*rank));
  } else if (auto* const summary = std::get_if<SummaryLine>(&*line)) {
    finish(std::move(*summary));
  }
}

void NodeStream::finish(SummaryLine summary) {
  const auto all = summary.ranks;
  for (auto& error : summary.dump.errors)
    troubles_.push_back(std::move(error));
  summary_ = std::move(summary);
  if (all != ranks_)
    say({"collector.protocol", fmt::format("of its {} ranks {} have come", all, ranks_),
         "dump that node by itself"});
}

void NodeStream::say(const Error& error, RankError::Level level) {
  if (troubles_.size() < most_troubles)
    troubles_.push_back({std::string(error.code), level, error.message, error.hint});
}

void NodeStream::break_off(const Error& error) {
  if (!broken_)
    troubles_.push_back(
        {std::string(error.code), RankError::Level::error, error.message, error.hint});
  broken_ = true;
  text_ = {};
}

} // namespace mqbridge
