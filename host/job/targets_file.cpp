#include "host/job/targets_file.h"

#include "host/disk/file_descriptor.h"
#include "host/disk/file_on_disk.h"
#include "host/job/quoted_words.h"
#include "host/job/target_line.h"
#include "host/mqs/dll_policy.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <sys/stat.h>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace mqbridge {
namespace {

/// Shortens a text for a message, which people read.
std::string_view clip(std::string_view text) {
  constexpr std::size_t most = 400;
  return text.substr(0, most);
}

/// Reads all lines, and collects their faults.
class Parser {
public:
  explicit Parser(const std::filesystem::path& path)
      : name_(path.string()), line_(path.parent_path()) {}

  Result<std::vector<TargetSpec>> parse(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark))
      text.remove_prefix(byte_order_mark.size());
    while (!text.empty()) {
      const auto line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      ++number_;
      if (auto taken = take(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line); !taken)
        return forward(std::move(taken));
    }
    return conclude();
  }

private:
  static constexpr std::size_t most_shown = 20; ///< faults that a message shows

  Result<void> take(std::string_view line) {
    if (const auto control = std::find_if(line.begin(), line.end(), is_control);
        control != line.end())
      return fail("targets.not_text",
                  fmt::format("{}:{}:{}: the file is no text: it holds the byte {:#04x}", name_,
                              number_,
                              column_at(line, static_cast<std::size_t>(control - line.begin())),
                              static_cast<unsigned char>(*control)),
                  "name a text file in UTF-8, with a line RANK TARGET for each rank");
    if (line.size() > most_target_line_bytes) {
      add_fault({1,
                 fmt::format("the line has {} bytes, and at most {} are read", line.size(),
                             most_target_line_bytes),
                 "write one target a line"});
      return {};
    }
    auto target = line_.read(line);
    for (auto& fault : line_.take_faults())
      add_fault(std::move(fault));
    return target ? add(std::move(*target)) : Result<void>();
  }

  Result<void> add(TargetSpec target) {
    if (targets_.size() == most_targets)
      return fail(
          "targets.too_large",
          fmt::format("{}:{}: the file names more than {} targets", name_, number_, most_targets),
          "name the targets in several files, and dump one after the other");
    if (target.rank) {
      const auto key = std::pair(target.keys.job.value_or(""), *target.rank);
      const auto [first, is_new] = ranks_.emplace(key, number_);
      if (!is_new)
        add_fault({1,
                   fmt::format("rank {}{} stands in line {} already", *target.rank,
                               target.keys.job ? " of job " + *target.keys.job : "", first->second),
                   "write another rank, - for one that is not known, or job=NAME for another job"});
    }
    if (const auto process = target.process_key()) {
      const auto [first, is_new] = processes_.emplace(*process, number_);
      if (!is_new)
        add_fault({1, fmt::format("{} is the process of line {}", target.text(), first->second),
                   "leave one of the two lines out"});
    }
    targets_.push_back(std::move(target));
    return {};
  }

  void add_fault(LineFault fault) {
    if (++faults_ > most_shown)
      return;
    shown_ += fmt::format("\n{}:{}:{}: {}\n    {}", name_, number_, fault.column, clip(fault.what),
                          clip(fault.mend));
  }

  Result<std::vector<TargetSpec>> conclude() {
    constexpr std::string_view form = "a line is RANK TARGET [key=value...], for example: "
                                      "0 ssh:node7:41822 sysroot=/srv/node7";
    if (faults_ > 0) {
      if (faults_ > most_shown)
        shown_ += fmt::format("\n... and {} more", faults_ - most_shown);
      return fail("targets.syntax",
                  fmt::format("{}: {} fault{}{}", name_, faults_, faults_ == 1 ? "" : "s", shown_),
                  fmt::format("correct them; {}", form));
    }
    if (targets_.empty())
      return fail("targets.empty", fmt::format("{} names no target", name_), std::string(form));
    return std::move(targets_);
  }

  const std::string name_;
  TargetLine line_;
  std::size_t number_ = 0; ///< of the line that is read
  std::vector<TargetSpec> targets_;
  std::map<std::pair<std::string, int>, std::size_t> ranks_; ///< line of each (job, rank)
  std::unordered_map<std::string, std::size_t> processes_;   ///< line of each
  std::size_t faults_ = 0;
  std::string shown_;
};

/// The contents of a regular file. A file of another kind (a FIFO, a device) might never end.
Result<std::string> read_text(const std::filesystem::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0)
    return fail("targets.open", fmt::format("{}: {}", path.string(), std::strerror(errno)),
                "name a file that can be read after --targets");
  if (!S_ISREG(status.st_mode))
    return fail("targets.open", fmt::format("{} is no regular file", path.string()),
                "name a text file after --targets; write what a command prints to a file first");
  constexpr std::size_t chunk = std::size_t{1} << 20;
  std::string text;
  for (std::size_t end = 0; text.size() == end; end += chunk) {
    if (end > most_targets_bytes)
      return fail("targets.too_large",
                  fmt::format("{} has more than {} bytes", path.string(), most_targets_bytes),
                  "name the targets in several files, and dump one after the other");
    text.resize(end + chunk);
    text.resize(end + read_at(fd, end, std::as_writable_bytes(std::span(text).subspan(end))));
  }
  return text;
}

constexpr std::string_view heading =
    "# Targets of mqbridge, for --targets: RANK TARGET [key=value...], a line each.\n";

constexpr std::size_t most_comment = 1024;

std::string absolute_text(const std::filesystem::path& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  return (error ? path : whole).string();
}

std::string line_of(const TargetSpec& target) {
  std::string line = target.rank ? std::to_string(*target.rank) : "-";
  const auto add = [&line](std::string_view word) { line += " " + quote_in_line(word); };
  add(target.text());
  const auto& keys = target.keys;
  if (keys.job)
    add("job=" + *keys.job);
  for (const auto& sysroot : keys.sysroots)
    add("sysroot=" + absolute_text(sysroot));
  for (const auto& types : keys.types)
    add("types=" + absolute_text(types));
  if (keys.dll)
    add("dll=" + (*keys.dll == DllPolicy::none ? keys.dll->string() : absolute_text(*keys.dll)));
  if (keys.node_command)
    add("node-command=" + *keys.node_command);
  return line;
}

} // namespace

Result<std::vector<TargetSpec>> parse_targets(std::string_view text,
                                              const std::filesystem::path& path) {
  return Parser(path).parse(text);
}

Result<std::vector<TargetSpec>> read_targets_file(const std::filesystem::path& path) {
  const auto text = read_text(path);
  return text ? parse_targets(*text, path) : Failure(text.error());
}

Result<std::string> targets_text(std::span<const TargetSpec> targets,
                                 std::span<const FindTrouble> faults) {
  std::string text(heading);
  for (const auto& [node, error, processes] : faults)
    text += printable(fmt::format("# not looked at: {}{}{}: {}", node, node.empty() ? "" : ": ",
                                  error.code, error.message)
                          .substr(0, most_comment)) +
            '\n';
  for (const TargetSpec& target : targets) {
    const auto line = line_of(target);
    if (std::any_of(line.begin(), line.end(), is_control))
      return fail("targets.unwritable",
                  fmt::format("{}: the target, or a key of it, holds a control character, which no "
                              "line of a targets file can",
                              target.text()),
                  "give it another name, or name it on the command line");
    text += line + '\n';
  }
  return text;
}

} // namespace mqbridge
