#include "host/report/causes.h"

#include "host/report/alike_texts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace mqbridge {

std::vector<Cause> causes_of(const std::vector<RankError>& errors) {
  std::vector<Cause> causes;
  using OfCode = std::pair<RankError::Level, std::string_view>;
  std::map<std::pair<OfCode, std::string>, std::size_t> known;
  struct Wordings {
    std::size_t count = 0;
    std::size_t last = 0; ///< index of the last cause
  };
  std::map<OfCode, Wordings> wordings;
  for (const RankError& error : errors) {
    const OfCode code(error.level, error.code);
    auto key = std::pair(code, frame_of(error.message + '\n' + error.hint));
    if (const auto found = known.find(key); found != known.end()) {
      causes[found->second].alike.push_back(&error);
      continue;
    }
    Wordings& of_code = wordings[code];
    if (error.level == RankError::Level::warning && of_code.count == most_wordings) {
      causes[of_code.last].others.push_back(&error);
      continue;
    }
    of_code = {of_code.count + 1, causes.size()};
    known.emplace(std::move(key), causes.size());
    causes.push_back({{&error}, {}});
  }
  return causes;
}

std::size_t count_of(const std::vector<Cause>& causes) {
  std::size_t count = 0;
  for (const Cause& cause : causes)
    count += 1 + cause.others.size();
  return count;
}

std::string message_of(const Cause& cause, std::string_view each) {
  std::string more;
  if (cause.alike.size() > 1) {
    std::vector<std::string_view> messages;
    for (const RankError* error : cause.alike)
      messages.push_back(error->message);
    more = alike_line(messages) + "; ";
  }
  if (!cause.others.empty())
    more += fmt::format("{} more in other words; ", cause.others.size());
  return more.empty() ? cause.shown().message
                      : fmt::format("{}\n({}{})", cause.shown().message, more, each);
}

} // namespace mqbridge
