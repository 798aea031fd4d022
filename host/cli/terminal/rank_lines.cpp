#include "host/cli/terminal/rank_lines.h"

#include <cstdlib>
#include <string_view>
#include <sys/utsname.h>
#include <utility>

namespace mqbridge {
namespace {

/// As Slurm calls this node, where it does: it may have several on one computer.
std::string own_name() {
  if (const char* const name = std::getenv("SLURMD_NODENAME"))
    return name;
  utsname names{};
  return ::uname(&names) == 0 ? std::string(names.nodename) : std::string("localhost");
}

} // namespace

RankLines::RankLines(Format format, JsonOptions json, Output& output, std::function<void()> lost)
    : on_(format == Format::ndjson || format == Format::collect), json_(std::move(json)),
      output_(output) {
  if (format != Format::collect)
    return;
  frames_.emplace([&output](std::string_view frame) {
    output.write(frame);
    output.flush();
  });
  frames_->hello(own_name(), json_.tool_version);
  lifeline_.emplace(*frames_, std::move(lost));
}

Sink RankLines::sink() {
  if (frames_)
    return [this](std::string_view text) { frames_->write(text); };
  return [this](std::string_view text) {
    output_.write(text);
    if (text.ends_with('\n'))
      output_.flush();
  };
}

void RankLines::begin(const Dump& before) {
  if (!on_)
    return;
  filters_ = before.filters;
  write_ndjson_header(before, json_, sink());
}

void RankLines::rank(const RankDump& rank) {
  if (!on_)
    return;
  const bool chooses = !frames_ && hides_operations(filters_);
  if (!chooses && !redactor_)
    return write_ndjson_rank(rank, json_, sink());
  RankDump chosen = rank;
  if (chooses)
    drop_unwanted(chosen.communicators, filters_);
  if (redactor_)
    redactor_->redact(chosen);
  write_ndjson_rank(chosen, json_, sink());
}

void RankLines::end(const Dump& dump) {
  if (!on_)
    return;
  for (const EarlierLook& look : dump.earlier)
    for (const RankDump& rank : look.ranks)
      write_ndjson_earlier(rank, look.taken_at, json_, sink());
  write_ndjson_summary(dump, sink());
}

} // namespace mqbridge
