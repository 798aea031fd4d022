#include "tests/e2e/harness/call_case.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/queue_view.h"

#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

std::vector<json> read_lines(const std::filesystem::path& file) {
  std::vector<json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    lines.push_back(json::parse(line));
  return lines;
}

const json* line_of(const std::vector<json>& lines, const FoundOperation& found) {
  for (const json& line : lines)
    if (line["queue"] == found.queue && line["tag"] == found["tag"]["value"])
      return &line;
  return nullptr;
}

// Of one rank: each operation that the program waits for says so, and no other one.
class Waits {
public:
  Waits(std::string where, std::vector<json> lines)
      : where_(std::move(where)), lines_(std::move(lines)) {}

  std::vector<std::string> differences(const json& rank) {
    std::size_t seen = 0;
    for (const auto& found : own_operations(rank)) {
      const json* line = line_of(lines_, found);
      seen += line == nullptr ? 0 : 1;
      compare(found, line);
    }
    if (seen != lines_.size())
      say(fmt::format("{} of {} that it waits for are there", seen, lines_.size()));
    return std::move(out_);
  }

private:
  void say(const std::string& text) { out_.push_back(where_ + ": " + text); }

  void compare(const FoundOperation& found, const json* line) {
    const json& waited = found["waited"];
    if (line == nullptr && !waited.is_null())
      say("nobody is known to wait for it: " + found.text());
    if (line == nullptr)
      return;
    if (!waited.is_object()) {
      say(fmt::format("waited for as {}: {}", line->dump(), found.text()));
      return;
    }
    for (const char* field : {"mode", "count", "unseen"})
      if (waited.value(field, json()) != (*line)[field])
        say(fmt::format("{} of {}: {}", field, line->dump(), found.text()));
    const auto group = groups_.emplace((*line)["group"], waited["group"]).first;
    const auto back = lines_by_group_.emplace(waited["group"], (*line)["group"]).first;
    if (group->second != waited["group"] || back->second != (*line)["group"])
      say("is not grouped by calls: " + found.text());
  }

  std::string where_;
  std::vector<json> lines_;
  std::map<json, json> groups_;
  std::map<json, json> lines_by_group_;
  std::vector<std::string> out_;
};

void compare_unexpected(const std::string& where, const json& rank, std::vector<std::string>& out) {
  for (const json& communicator : rank["communicators"]) {
    const json& queue = communicator["queues"]["unexpected"];
    if (queue["state"] != "available")
      out.push_back(fmt::format("{}: unexpected messages of {} are {}", where,
                                communicator["name"].dump(), queue["state"].dump()));
    for (const json& operation : queue["operations"])
      if (!is_internal(operation))
        out.push_back(fmt::format("{}: nobody sent {}", where, operation.dump()));
  }
}

} // namespace

std::vector<std::string> message_differences(const CallCase& param,
                                             const std::filesystem::path& step,
                                             const json& document) {
  std::vector<std::string> out;
  for (std::size_t number = 0; number < document["ranks"].size(); ++number) {
    const json& rank = document["ranks"][number];
    const int n = static_cast<int>(number);
    const std::string where = fmt::format("rank {}", n);
    for (const auto& line : differences(read_oracle(step, n), rank))
      out.push_back(fmt::format("{}: {}", where, line));
    compare_unexpected(where, rank, out);
    Waits waits(where, read_lines(step / fmt::format("waited.{}", n)));
    for (auto& line : waits.differences(rank))
      out.push_back(std::move(line));
    if (!param.is_inside(n))
      for (const auto& found : internal_operations(rank))
        out.push_back(fmt::format("{}: is outside: {}", where, found.text()));
  }
  return out;
}

} // namespace mqbridge::e2e
