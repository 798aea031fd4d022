#include "host/service/document_lines.h"

#include "host/disk/checksum.h"

#include <fmt/format.h>
#include <span>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

/// The first value of that name in a line that mqbridge has written, as it stands there.
std::string_view member_of(std::string_view line, std::string_view name) {
  const auto begin = line.find(name);
  if (begin == line.npos)
    return {};
  const auto value = line.substr(begin + name.size());
  return value.substr(0, value.find_first_of(",}") + 1);
}

} // namespace

std::string DocumentLines::processes() const {
  return fmt::format("{:016x}", processes_);
}

void DocumentLines::add(std::string_view text) {
  constexpr std::size_t longest = std::size_t{64} << 20;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto piece = text.substr(0, end);
    is_too_long_ = is_too_long_ || line_.size() + piece.size() > longest;
    if (!is_too_long_)
      line_ += piece;
    if (end == text.npos)
      return;
    end_line();
    text.remove_prefix(end + 1);
  }
}

void DocumentLines::end_line() {
  if (line_.starts_with(R"({"type":"rank")")) {
    ++ranks_;
    std::string who; // ranks come in any order
    for (const std::string_view name :
         {R"("endpoint":)", R"("host":)", R"("pid":)", R"("job_id":)", R"("world_rank":)"})
      who += member_of(line_, name);
    processes_ += checksum(std::as_bytes(std::span(who)));
  }
  last_ = std::exchange(line_, {});
  if (std::exchange(is_too_long_, false))
    last_.clear();
  if (first_.empty())
    first_ = last_;
}

} // namespace mqbridge
