#include "host/report/communicator_words.h"
#include "host/report/fitted_text.h"
#include "host/report/idle_communicators.h"
#include "host/report/inside_lines.h"
#include "host/report/operation_rows.h"
#include "host/report/queue_words.h"
#include "host/report/table.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t indent = 4;
/// Details stand behind the indent and the column QUEUE.
constexpr std::size_t detail_indent = indent + 7;

class CommunicatorWriter {
public:
  CommunicatorWriter(const TextContext& context, const RankDump& rank,
                     const IdleCommunicators& idle)
      : context_(context), rank_(rank), idle_(idle), waits_(rank),
        table_(operation_columns(), context.options.width - indent) {
    for (const Communicator& communicator : rank.communicators) {
      if (idle.contains(communicator))
        continue;
      names_ = std::max(names_, display_width(display_name(communicator)));
      keys_ = std::max(keys_, display_width(communicator.key));
      for (const OpClass op_class : op_classes)
        operation_rows(communicator, op_class, waits_, context.options,
                       [&](const OperationRow& row) { table_.fit(row.cells); });
    }
    without_buffers_ = !table_.narrow().empty();
  }

  void write(const Communicator& communicator) {
    if (idle_.contains(communicator))
      return;
    std::vector<Cell> pieces = heading(communicator);
    const auto inside = inside_lines(communicator);
    if (has_own_operations(communicator, context_.options.full)) {
      write_flow(context_, pieces, indent);
      if (!titles_written_)
        context_.line(std::string(indent, ' ') + table_.titles(context_.paint));
      titles_written_ = true;
      write_lines(inside);
      for (const OpClass op_class : op_classes)
        write_queue(communicator, op_class, !inside.empty());
    } else {
      if (const std::string idle = idle_queues(rank_, communicator); !idle.empty())
        pieces.push_back({"   " + idle});
      write_flow(context_, pieces, indent);
      write_lines(inside);
    }
    write_lines(message_lines(communicator));
    if (const std::string returned = returned_line(context_.dump, communicator);
        !returned.empty() && !context_.options.full)
      write_below(returned, Style::dim, indent);
    if (context_.options.full)
      if (const std::string counters = counters_line(communicator); !counters.empty())
        write_below(counters, Style::plain, indent);
  }

  void write_end() const {
    if (titles_written_ && without_buffers_)
      write_message(context_, Style::dim, "no room for BUFFER: --format json has it", "");
  }

private:
  std::vector<Cell> heading(const Communicator& communicator) const {
    const std::string name = display_name(communicator);
    const std::string key(keys_ - display_width(communicator.key), ' ');
    const std::string padding(names_ - display_width(name), ' ');
    std::vector<Cell> pieces = {{fmt::format("  {}{} {}", printable(communicator.key), key, name)}};
    for (const std::string& fact : facts_of(communicator))
      pieces.push_back({"   " + fact});
    pieces[1].text.insert(0, padding);
    return pieces;
  }

  void write_lines(const std::vector<InsideLine>& lines) const {
    for (const InsideLine& line : lines)
      write_below(line.text(), Style::plain, indent);
  }

  void write_queue(const Communicator& communicator, OpClass op_class, bool say_empty) {
    const Queue& queue = communicator.queue(op_class);
    bool source_said = false;
    const std::uint64_t left_out =
        operation_rows(communicator, op_class, waits_, context_.options, [&](OperationRow row) {
          add_source(rank_, row, source_said);
          write_row(row);
        });
    const std::string start =
        std::string(indent, ' ') + fmt::format("{:5}  ", short_name(op_class));
    if (left_out > 0)
      context_.line(fmt::format("{}and {} more  (--show all)", start, left_out));
    for (const std::string& state : queue_states(rank_, queue, op_class, say_empty))
      write_flow(context_, {{start + state}}, detail_indent);
  }

  void write_row(const OperationRow& row) {
    const Paint& paint = context_.paint;
    std::string line = std::string(indent, ' ') + table_.line(row.cells, paint);
    const bool fits =
        display_width(std::string(indent, ' ') + table_.line(row.cells, Paint(false))) + 2 +
            display_width(row.note.text) <=
        context_.options.width;
    if (!row.note.text.empty() && fits)
      line += "  " + paint(row.note.style, row.note.text);
    context_.line(line);
    if (!fits)
      write_below(row.note.text, row.note.style, detail_indent);
    write_below(row.detail, Style::dim, detail_indent);
  }

  void write_below(const std::string& text, Style style, std::size_t at) const {
    for (const std::string& line : wrap_words(text, context_.options.width - at))
      context_.line(context_.paint(style, std::string(at, ' ') + line));
  }

  const TextContext& context_;
  const RankDump& rank_;
  const IdleCommunicators& idle_;
  WaitedWords waits_;
  Table table_;
  std::size_t names_ = 0;
  std::size_t keys_ = 0;
  bool titles_written_ = false;
  bool without_buffers_ = false;
};

} // namespace

void write_communicators(const TextContext& context, const RankDump& rank,
                         const IdleCommunicators& idle) {
  CommunicatorWriter writer(context, rank, idle);
  for (const Communicator& communicator : rank.communicators)
    writer.write(communicator);
  writer.write_end();
  for (const std::string& line : common_states({&rank}))
    write_message(context, Style::plain, line, "");
}

} // namespace mqbridge
