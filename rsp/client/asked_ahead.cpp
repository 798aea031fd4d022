#include "rsp/client/asked_ahead.h"

#include <algorithm>
#include <utility>

namespace mqbridge::rsp {

void AskedAhead::ask(std::string payload) {
  answers_.erase(payload);
  if (std::any_of(due_.begin(), due_.end(),
                  [&](const Due& due) { return due.wanted && due.payload == payload; }))
    return;
  due_.push_back({std::move(payload), true});
}

void AskedAhead::post(std::string payload) {
  due_.push_back({std::move(payload), false});
}

std::vector<std::string> AskedAhead::take_due(const std::vector<std::string>& asked_anyhow) {
  std::vector<std::string> leaving;
  for (auto& [payload, wanted] : std::exchange(due_, {})) {
    const bool twice = wanted && std::find(asked_anyhow.begin(), asked_anyhow.end(), payload) !=
                                     asked_anyhow.end();
    if (twice)
      continue;
    if (wanted)
      under_way_.push_back(payload);
    leaving.push_back(std::move(payload));
  }
  return leaving;
}

void AskedAhead::answered(const std::string& payload, std::string reply) {
  if (std::erase(under_way_, payload) != 0)
    keep(payload, std::move(reply));
}

void AskedAhead::keep(std::string payload, std::string reply) {
  answers_.insert_or_assign(std::move(payload), std::move(reply));
}

std::optional<std::string> AskedAhead::take(std::string_view payload) {
  const auto found = answers_.find(payload);
  if (found == answers_.end())
    return std::nullopt;
  auto reply = std::move(found->second);
  answers_.erase(found);
  return reply;
}

void AskedAhead::forget() {
  answers_.clear();
  under_way_.clear();
  std::erase_if(due_, [](const Due& due) { return due.wanted; });
}

} // namespace mqbridge::rsp
