#include "host/document/names.h"
#include "host/report/fitted_text.h"
#include "host/report/handle_words.h"
#include "host/report/peer_text.h"
#include "host/report/rank_lists.h"
#include "host/report/text_parts.h"
#include "host/report/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

namespace mqbridge {
namespace {

constexpr std::string_view handle_indent = "    ";
constexpr std::size_t longest_label = 12;

using Row = std::vector<Cell>;

template <class T>
std::string or_mark(const std::optional<T>& number) {
  return number ? fmt::to_string(*number) : "?";
}

std::string yes_or_no(const std::optional<bool>& flag) {
  return flag ? (*flag ? "yes" : "no") : "?";
}

void write_table(const TextContext& context, std::string_view title,
                 const std::vector<Column>& columns, const std::vector<Row>& rows) {
  if (rows.empty())
    return;
  context.line("  " + context.paint(Style::heading, title));
  Table table(columns, context.options.width - handle_indent.size());
  // The last column has all attributes, or a path: it may go beyond the width.
  constexpr std::size_t usual_last = 24;
  for (Row row : rows) {
    row.back().text = clipped(row.back().text, usual_last);
    table.fit(row);
  }
  std::vector<std::string> left_out;
  for (const std::size_t index : table.narrow())
    left_out.push_back(columns[index].title);
  context.line(std::string(handle_indent) + table.titles(context.paint));
  for (const Row& row : rows)
    context.line(std::string(handle_indent) + table.line(row, context.paint));
  if (!left_out.empty())
    context.line(
        fmt::format("{}no room for {}: --full has it", handle_indent, fmt::join(left_out, ", ")));
}

/// The handles of one rank.
class RankHandles {
public:
  RankHandles(const TextContext& context, const RankDump& rank)
      : context_(context), handles_(*rank.handles), words_(handles_) {}

  void write() const {
    if (handles_.listed && !context_.options.full) {
      write_communicators();
      write_requests();
      write_errhandlers();
    } else {
      write_all_about("request", handles_.requests);
      write_all_about("communicator", handles_.communicators);
      write_all_about("error handler", handles_.errhandlers);
      for (const StatusHandle& status : handles_.statuses)
        write_about("status at " + hexadecimal(status.address), words_.about(status));
    }
    write_refused();
    write_lacks();
  }

private:
  void write_communicators() const {
    std::vector<Row> rows;
    for (const auto& each : handles_.communicators) {
      if (each.null)
        continue;
      const auto size = or_mark(each.size) +
                        (each.remote_size ? fmt::format("+{}", *each.remote_size) : std::string());
      rows.push_back({{hexadecimal(each.handle)},
                      {each.name.empty() ? "-" : printable(each.name)},
                      {or_mark(each.rank)},
                      {size},
                      {HandleWords::topology_of(each)},
                      {yes_or_no(each.freed)},
                      {each.errhandler ? errhandler_name(*each.errhandler) : "?"},
                      {HandleWords::attributes_of(each)}});
    }
    write_table(context_, "communicators",
                {{"HANDLE"},
                 {"NAME"},
                 {"RANK", Align::right},
                 {"SIZE", Align::right},
                 {"TOPOLOGY"},
                 {"FREED", Align::left, 2, 2},
                 {"ERRORS", Align::left, 2, 3},
                 {"ATTRIBUTES", Align::left, 2, 4}},
                rows);
  }

  /// Requests that the MPI made for itself are only counted.
  void write_requests() const {
    std::vector<Row> rows;
    std::size_t own = 0;
    for (const auto& each : handles_.requests)
      if (each.predefined)
        own += each.kind != RequestHandleKind::null;
      else
        rows.push_back(request_row(each));
    write_table(context_, "requests",
                {{"HANDLE"},
                 {"KIND"},
                 {"STATE"},
                 {"PEER"},
                 {"TAG", Align::right},
                 {"SIZE", Align::right},
                 {"COMMUNICATOR"},
                 {"BUFFER", Align::left, 2, 3},
                 {"CALL", Align::left, 2, 2},
                 {"AT", Align::left, 2, 1}},
                rows);
    if (own > 0)
      context_.line(
          fmt::format("  {} that the MPI made for itself: --full", counted(own, "more request")));
  }

  Row request_row(const RequestHandle& each) const {
    const auto peer = each.peer ? peer_text(words_.peer_of(each, *each.peer)) : std::string("?");
    const auto tag = each.tag == any_tag ? std::string("ANY") : or_mark(each.tag);
    return {{hexadecimal(each.handle)},
            {HandleWords::kind_of(each)},
            {std::string(name_of(each.state)),
             each.state == RequestHandleState::complete ? Style::good : Style::plain},
            {peer},
            {tag},
            {each.bytes ? size_text(static_cast<std::int64_t>(*each.bytes)) : "?"},
            {each.comm ? words_.communicator_name(*each.comm) : "?"},
            {each.buffer ? hexadecimal(*each.buffer) : "?"},
            {each.call.empty() ? "?" : printable(each.call)},
            {each.site ? HandleWords::place_of(each.site) : "?"}};
  }

  void write_errhandlers() const {
    std::vector<Row> rows;
    for (const auto& each : handles_.errhandlers)
      rows.push_back({{hexadecimal(each.handle)},
                      {each.name.empty() ? "-" : printable(each.name)},
                      {each.predefined ? "predefined" : "of the program"},
                      {each.callback ? hexadecimal(*each.callback) : "-"},
                      {yes_or_no(each.freed)},
                      {each.attached_to ? fmt::to_string(each.attached_to->size()) : "?"}});
    write_table(
        context_, "error handlers",
        {{"HANDLE"}, {"NAME"}, {"WHAT"}, {"FUNCTION"}, {"FREED"}, {"ATTACHED TO", Align::right}},
        rows);
  }

  std::string errhandler_name(std::uint64_t handle) const {
    const auto known = std::ranges::find(handles_.errhandlers, handle, &ErrhandlerHandle::handle);
    return known == handles_.errhandlers.end() || known->name.empty() ? hexadecimal(handle)
                                                                      : printable(known->name);
  }

  template <class Handle>
  void write_all_about(std::string_view kind, const std::vector<Handle>& handles) const {
    for (const Handle& handle : handles)
      write_about(fmt::format("{} {:#x}{}", kind, handle.handle, name_behind(handle)),
                  words_.about(handle));
  }

  static std::string name_behind(const RequestHandle&) { return {}; }
  static std::string name_behind(const auto& handle) {
    return handle.name.empty() ? std::string() : " " + quoted_name(handle.name);
  }

  void write_about(std::string_view title, const std::vector<HandleLine>& lines) const {
    context_.line("  " + context_.paint(Style::heading, title));
    for (const auto& [label, text] : lines) {
      const auto room = context_.options.width - handle_indent.size() - longest_label;
      std::string begin = fmt::format("{}{:<{}}", handle_indent, label, longest_label);
      for (const std::string& line : wrap_words(text, room)) {
        context_.line(begin + line);
        begin.assign(handle_indent.size() + longest_label, ' ');
      }
    }
  }

  void write_refused() const {
    for (const HandleRefusal& refused : handles_.refused)
      for (const std::string& line :
           wrap_words(fmt::format("  {} {}: {}", name_of(refused.handle.kind),
                                  refused.handle.fortran
                                      ? fmt::format("{} (Fortran)",
                                                    static_cast<std::int32_t>(refused.handle.value))
                                      : hexadecimal(refused.handle.value),
                                  printable(refused.reason)),
                      context_.options.width))
        context_.line(line);
  }

  void write_lacks() const {
    const auto say = [&](const std::vector<HandleKind>& kinds, std::string_view what) {
      std::vector<std::string> names;
      for (const HandleKind kind : kinds)
        names.push_back(fmt::format("{}s", name_of(kind)));
      if (!names.empty())
        context_.line(fmt::format("  {}: {}", fmt::join(names, ", "), what));
    };
    say(handles_.incomplete, "there may be more than the debug DLL can list");
    say(handles_.unlisted, "the debug DLL cannot list them (unknown, not none)");
  }

  const TextContext& context_;
  const ProcessHandles& handles_;
  HandleWords words_;
};

} // namespace

void write_handles(const Dump& dump, const TextOptions& options, const Sink& sink) {
  const TextContext context{dump, options, sink, Paint(options.color)};
  write_header(context, "handles");
  for (const RankDump& rank : dump.ranks) {
    if (!rank.handles)
      continue;
    context.line();
    if (has_several_jobs(dump))
      context.line(context.paint(Style::heading, job_heading(rank)));
    write_heading(context, rank);
    RankHandles(context, rank).write();
  }
  write_troubles(context);
  write_end(context);
}

} // namespace mqbridge
