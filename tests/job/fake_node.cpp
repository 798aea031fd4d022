#include "tests/job/fake_node.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::test {
namespace {

using State = rsp::FileText::State;

std::string ended_by(const std::vector<std::string>& words, char end) {
  std::string text;
  for (const auto& word : words)
    text += word + end;
  return text;
}

std::string path_of(std::int64_t pid, const std::string& file) {
  return fmt::format("/proc/{}/{}", pid, file);
}

/// As proc(5) has it, with code at 0x1000.
std::string stat_of(const FakeProcess& process) {
  const auto started =
      process.started != 0 ? process.started : static_cast<std::uint64_t>(process.pid);
  return fmt::format(
      "{} ({}) {} {} 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 {} 1 1 1 4096 1 1 0\n", process.pid,
      process.name, process.state, process.parent, started);
}

std::string maps_of(const FakeProcess& process) {
  auto text = fmt::format("00001000-00002000 r-xp 00000000 08:01 17   /home/me/{}\n"
                          "00002000-00003000 rw-p 00000000 00:00 0    [heap]\n",
                          process.name);
  for (std::size_t i = 0; i < process.libraries.size(); ++i)
    text += fmt::format("{:08x}-{:08x} r-xp 00000000 08:01 {}   {}\n", 0x100000 + 0x2000 * i,
                        0x101000 + 0x2000 * i, 100 + i, process.libraries[i]);
  return text;
}

} // namespace

FakeNode& FakeNode::add(const FakeProcess& process) {
  listed_.push_back({process.pid, process.user});
  const auto& pid = process.pid;
  files_[path_of(pid, "stat")] = {State::read, stat_of(process), true};
  files_[path_of(pid, "environ")] = {State::read, ended_by(process.environment, '\0'), true};
  files_[path_of(pid, "maps")] = {State::read, maps_of(process), true};
  files_[path_of(pid, "cmdline")] = {State::read, ended_by(process.command, '\0'), true};
  return *this;
}

FakeNode& FakeNode::add_ended(std::int64_t pid) {
  listed_.push_back({pid, "me"});
  return *this;
}

void FakeNode::answer(std::int64_t pid, const std::string& file, rsp::FileText text) {
  files_[path_of(pid, file)] = std::move(text);
}

Result<std::vector<ListedProcess>> FakeNode::processes() {
  if (!error_.code.empty())
    return Failure(error_);
  return listed_;
}

Result<void> FakeNode::read(std::span<const rsp::FileStart> files, const rsp::TakeText& take) {
  ++calls;
  for (std::size_t i = files.size(); i-- > 0;) { // no order is promised
    most_bytes_asked = std::max(most_bytes_asked, files[i].count);
    const auto found = files_.find(files[i].path);
    take(i, found != files_.end() ? found->second : rsp::FileText{State::missing, {}, {}});
  }
  return {};
}

} // namespace mqbridge::test
