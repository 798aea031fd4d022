#include "host/collect/collector_run.h"

#include "host/collect/last_words.h"
#include "rsp/codes.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

using std::chrono::duration_cast;
using std::chrono::seconds;

RankError silent(std::string message) {
  return {"collector.silent", RankError::Level::error, std::move(message),
          "look whether that node is well, or leave it out"};
}

/// Takes srun's number of the task off (" 7: ": all have one width); nullopt: srun has put none
/// there.
std::optional<int> take_label(std::string_view& line) {
  int label = 0;
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
  const auto* const last = line.data() + line.size();
  const auto [end, error] = std::from_chars(line.data(), last, label);
  if (error != std::errc() || label < 0 || last - end < 2 || std::string_view(end, 2) != ": ")
    return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end + 2 - line.data()));
  return label;
}

} // namespace

CollectorRun::CollectorRun(const Collector& collector, const CollectOptions& options,
                           std::uint64_t bytes_a_node, std::shared_ptr<RankListPool> lists,
                           RankCame rank_came)
    : collector_(collector), options_(options), bytes_a_node_(bytes_a_node),
      lists_(std::move(lists)), rank_came_(std::move(rank_came)) {}

void CollectorRun::start() {
  started_ = Clock::now();
  auto command = StartedCommand::start(collector_.argv);
  if (command) {
    command_.emplace(std::move(*command));
    return;
  }
  not_started_ = command.error();
  over_ = true;
}

void CollectorRun::leave_out() {
  not_started_ = Error{codes::interrupted, "interrupted before it was this node's turn", ""};
  over_ = true;
}

void CollectorRun::look() {
  const bool ended = command_->has_ended(); // before its last words are read
  command_->read_error();
  const bool dry = read_lines();
  give_up_late();
  if (ended && dry)
    over_ = true;
  else if (nothing_more_is_expected())
    ask_to_end();
  push_to_end();
}

/// Reads at most so much at once that the others get their turn. True: there is no more now.
bool CollectorRun::read_lines() {
  constexpr int most_reads = 16;
  for (int reads = 0; reads < most_reads; ++reads) {
    const auto text = command_->read_output();
    if (text.empty())
      return true;
    lines_.add(text, [this](std::string_view line) { take_line(line); });
  }
  return false;
}

void CollectorRun::take_line(std::string_view line) {
  auto* const channel = channel_of(line);
  if (channel == nullptr) {
    constexpr std::size_t most_kept = 1024;
    if (strange_.size() < most_kept)
      strange_ += std::string(line.substr(0, most_kept)) + '\n';
    return;
  }
  channel->heard = Clock::now();
  channel->stream.take(line, [&](RankDump&& rank) {
    channel->last_rank = channel->heard;
    if (channel->node != nullptr)
      rank_came_(*channel->node, *channel->stream.host(), std::move(rank));
  });
  if (channel->stream.host() && channel->node == nullptr && !channel->given_up)
    settle_node(*channel);
}

/// The channel of the collector that sent `line`, whose label is removed. nullptr: there is no such
/// collector.
CollectorRun::Channel* CollectorRun::channel_of(std::string_view& line) {
  const bool several = collector_.nodes.size() > 1;
  const auto label = several ? take_label(line) : 0;
  if (!label || std::cmp_greater_equal(*label, collector_.nodes.size()))
    return nullptr;
  const auto now = Clock::now();
  const auto [channel, added] = channels_.try_emplace(
      *label, Channel{*label, NodeStream(options_.version, bytes_a_node_, lists_), now, now});
  if (added && !several)
    channel->second.node = &collector_.nodes.front();
  return &channel->second;
}

/// For srun's nodes: the greeting tells which node it is.
void CollectorRun::settle_node(Channel& channel) {
  const auto& host = *channel.stream.host();
  const auto named = std::ranges::find(collector_.nodes, host, &Node::host);
  if (named == collector_.nodes.end())
    channel.given_up = {
        "collector.protocol", RankError::Level::error,
        fmt::format("a collector says that it is on {}, which was not asked for", printable(host)),
        "look what srun runs on these nodes"};
  else if (channel_of(*named) != nullptr)
    channel.given_up = {"collector.protocol", RankError::Level::error,
                        "two collectors say that they are on this node; the first counts",
                        "look what srun runs on these nodes"};
  else
    channel.node = &*named;
}

void CollectorRun::give_up_late() {
  const auto now = Clock::now();
  for (auto& [label, channel] : channels_) {
    if (channel.stream.is_over() || channel.given_up)
      continue;
    if (now - channel.heard > options_.silence)
      channel.given_up = silent(
          fmt::format("nothing has come for {} s; of its ranks {} had come before",
                      duration_cast<seconds>(options_.silence).count(), channel.stream.ranks()));
    else if (channel.stream.host() && now - channel.last_rank > options_.a_rank)
      channel.given_up = silent(fmt::format("no rank has come for {} s",
                                            duration_cast<seconds>(options_.a_rank).count()));
  }
}

bool CollectorRun::nothing_more_is_expected() const {
  const auto is_settled = [&](const Node& node) {
    const auto* const channel = channel_of(node);
    return channel == nullptr || !channel->stream.host()
               ? Clock::now() - started_ > options_.greeting
               : channel->stream.is_over() || channel->given_up.has_value();
  };
  return std::ranges::all_of(collector_.nodes, is_settled);
}

void CollectorRun::ask_to_end() {
  if (over_ || asked_ || !command_)
    return;
  command_->close_input();
  asked_ = Clock::now();
}

/// Kills a command that does not end when it is asked to.
void CollectorRun::push_to_end() {
  if (!asked_ || over_)
    return;
  const auto waited = Clock::now() - *asked_;
  if (waited > 2 * options_.ending) {
    command_->kill();
    over_ = true;
  } else if (waited > options_.ending && !told_) {
    command_->signal(SIGTERM); // a second one makes srun leave its tasks behind
    told_ = true;
  }
}

const CollectorRun::Channel* CollectorRun::channel_of(const Node& node) const {
  const auto found =
      std::ranges::find_if(channels_, [&](const auto& each) { return each.second.node == &node; });
  return found == channels_.end() ? nullptr : &found->second;
}

void CollectorRun::tell_faults(NodeFaults& faults) const {
  for (const auto& node : collector_.nodes) {
    const auto* const channel = channel_of(node);
    if (channel != nullptr)
      for (const auto& trouble : channel->stream.troubles())
        faults.add(node.name(), trouble);
    if (channel != nullptr && channel->given_up)
      faults.add(node.name(), *channel->given_up);
    else if (channel == nullptr || !channel->stream.is_over())
      faults.add(node.name(), why_not_complete(node, channel));
  }
  for (const auto& [label, channel] : channels_)
    if (channel.node == nullptr && channel.given_up)
      faults.add(channel.stream.host().value_or("?"), *channel.given_up);
}

RankError CollectorRun::why_not_complete(const Node& node, const Channel* channel) const {
  constexpr auto error = RankError::Level::error;
  if (not_started_)
    return {std::string(not_started_->code), error, not_started_->message, not_started_->hint};
  const auto words = words_of(node, channel);
  const auto said = words.empty() ? "" : fmt::format("; it said: {}", words);
  const auto ending = collector_.argv.front() + " " + command_->ending();
  if (channel != nullptr && channel->stream.host())
    return {"collector.cut", error,
            fmt::format("{} of its ranks came, then {}{}", channel->stream.ranks(), ending, said),
            "dump that node by itself"};
  if (asked_ && *asked_ - started_ > options_.greeting)
    return silent(fmt::format("mqbridge has not spoken there for {} s{}",
                              duration_cast<seconds>(options_.greeting).count(), said));
  if (asked_)
    return {std::string(codes::interrupted), error, "interrupted before mqbridge spoke there", ""};
  return {"collector.no_greeting", error,
          fmt::format("{} before mqbridge spoke there{}", ending, said), hint_for(words)};
}

std::string CollectorRun::words_of(const Node& node, const Channel* channel) const {
  const bool several = collector_.nodes.size() > 1;
  std::string all = command_->said() + strange_;
  if (channel != nullptr)
    all += channel->stream.noise();
  const auto label = channel == nullptr ? -1 : channel->label;
  return last_words(all, node.host, several ? std::optional(label) : std::nullopt);
}

} // namespace mqbridge
