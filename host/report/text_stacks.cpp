#include "host/disk/file_name.h"
#include "host/dump/values/ranges.h"
#include "host/report/fitted_text.h"
#include "host/report/rank_lists.h"
#include "host/report/shared_errors.h"
#include "host/report/stack_calls.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t most_kinds = 8;
constexpr std::size_t deepest_indent = 20; ///< calls; those further in have their number
constexpr std::size_t least_name = 20;     ///< columns of a function's name that are never cut

/// The ranks of one job, and the tree of those that have stacks.
class JobStacks {
public:
  JobStacks(const TextContext& context, Ranks ranks) : context_(context), ranks_(std::move(ranks)) {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      add(i);
  }

  void write() const {
    write_counts();
    const auto kinds = tree_.kinds();
    const auto chosen = context_.options.full ? kinds : largest_and_loneliest(kinds, most_kinds);
    write_tree(tree_.ways_to(chosen));
    if (chosen.size() < kinds.size())
      context_.line(fmt::format("  {} of stack left out: --full (shown are the most frequent ones "
                                "and the loneliest)",
                                counted(kinds.size() - chosen.size(), "more kind")));
    for (const auto& [why, ranks] : without_)
      write_message(context_, Style::warning,
                    fmt::format("not in the tree: {} {}: {}", ranks.size() == 1 ? "rank" : "ranks",
                                ranks_text(ranks, context_.options.width / 2), why),
                    "");
  }

private:
  struct Line {
    std::size_t node;
    std::size_t depth;
    std::string ranks;
  };

  void add(std::size_t index) {
    const RankDump& rank = *ranks_[index];
    const auto before = threads_;
    for (std::size_t i = 0; rank.stacks && i < rank.stacks->size(); ++i) {
      const ThreadStack& stack = (*rank.stacks)[i];
      if (stack.helper && !context_.options.all_threads)
        ++helpers_;
      else
        add(index, stack);
    }
    if (threads_ > before)
      ++in_tree_;
    else
      add_without(why_without(rank), rank);
  }

  void add_without(const std::string& why, const RankDump& rank) {
    const auto known = std::ranges::find(without_, why, &std::pair<std::string, Ranks>::first);
    if (known == without_.end())
      without_.emplace_back(why, Ranks{&rank});
    else
      known->second.push_back(&rank);
  }

  void add(std::size_t index, const ThreadStack& stack) {
    const bool full = context_.options.full;
    tree_.add(index, stack_calls(*ranks_[index], stack, full));
    ++threads_;
  }

  static std::string why_without(const RankDump& rank) {
    const auto why = why_no_stack(rank);
    if (!rank.stacks)
      return rank.errors.empty() ? why : why + ", see below";
    return rank.stacks->empty() ? why : why + " (--threads all)";
  }

  void write_counts() const {
    std::string text = fmt::to_string(in_tree_);
    if (in_tree_ < ranks_.size())
      text += fmt::format(" of {}", ranks_.size());
    text +=
        fmt::format(" {}, {}", ranks_.size() == 1 ? "rank" : "ranks", counted(threads_, "thread"));
    if (helpers_ > 0)
      text += fmt::format(" ({} left out: --threads all)", counted(helpers_, "helper thread"));
    context_.line(context_.paint(Style::heading, text));
  }

  Ranks ranks_in(std::size_t node) const {
    Ranks ranks;
    for (const std::size_t index : tree_.node(node).processes)
      ranks.push_back(ranks_[index]);
    return ranks;
  }

  /// Children, those of most ranks first.
  std::vector<std::size_t> in_order(std::size_t node) const {
    auto children = tree_.node(node).children;
    std::ranges::stable_sort(children, std::ranges::greater(), [this](std::size_t child) {
      return tree_.node(child).processes.size();
    });
    return children;
  }

  /// A line for each node that is shown, calls behind their callers.
  std::vector<Line> lines_of(const std::vector<bool>& shown) const {
    std::vector<Line> lines;
    std::vector<Line> open; // a stack: the tree may be too deep for recursion
    const auto open_children = [&](std::size_t node, std::size_t depth) {
      const auto children = in_order(node);
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        if (shown[*child])
          open.push_back({*child, depth, {}});
    };
    open_children(StackTree::root, 0);
    while (!open.empty()) {
      lines.push_back(std::move(open.back()));
      open.pop_back();
      Line& line = lines.back();
      line.ranks = ranks_text(ranks_in(line.node), widest_ranks);
      open_children(line.node, line.depth + 1);
    }
    return lines;
  }

  void write_tree(const std::vector<bool>& shown) const {
    const auto lines = lines_of(shown);
    std::size_t widest = 0;
    for (const Line& line : lines)
      widest = std::max(widest, display_width(line.ranks));
    const auto most = fmt::to_string(ranks_.size()).size();
    for (const Line& line : lines)
      write_call(fmt::format("  {:>{}}  {}{}  ", tree_.node(line.node).processes.size(), most,
                             line.ranks, std::string(widest - display_width(line.ranks), ' ')),
                 line);
  }

  void write_call(std::string start, const Line& line) const {
    const auto& node = tree_.node(line.node);
    start.append(2 * std::min(line.depth, deepest_indent), ' ');
    if (line.depth > deepest_indent)
      start += fmt::format("[{}] ", line.depth);
    std::string place;
    if (!node.call.file.empty())
      place = "  " + printable(file_name(node.call.file));
    if (!node.call.file.empty() && node.call.line > 0)
      place += fmt::format(":{}", node.call.line);
    if (node.threads > node.processes.size())
      place += fmt::format("  ({} threads)", node.threads);
    const std::size_t used = display_width(start) + display_width(place);
    const std::size_t left =
        std::max(least_name, context_.options.width - std::min(used, context_.options.width));
    context_.line(start + clipped(printable(node.call.function), left) +
                  context_.paint(Style::dim, place));
  }

  const TextContext& context_;
  const Ranks ranks_;
  StackTree tree_;
  std::size_t in_tree_ = 0;
  std::size_t threads_ = 0;
  std::size_t helpers_ = 0;                            ///< that are not in the tree
  std::vector<std::pair<std::string, Ranks>> without_; ///< by why they have no thread in the tree
};

} // namespace

void write_stacks(const Dump& dump, const TextOptions& options, const Sink& sink) {
  const TextContext context{dump, options, sink, Paint(options.color)};
  const auto jobs = by_job(dump);
  for (const Ranks& job : jobs) {
    if (&job != &jobs.front())
      context.line();
    if (has_several_jobs(dump))
      context.line(context.paint(Style::heading, job_heading(*job.front())));
    JobStacks(context, job).write();
  }
  write_troubles(context);
  write_end(context);
}

} // namespace mqbridge
