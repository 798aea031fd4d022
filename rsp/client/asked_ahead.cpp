#include "rsp/client/asked_ahead.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace mqbridge::rsp {

void AskedAhead::ask(std::string payload) {
  answers_.erase(payload);
  if (std::any_of(due_.begin(), due_.end(),
                  [&](const Due& due) { return due.wanted && due.payload == payload; }))
    return;
  due_.push_back({std::move(payload), true});
}

void AskedAhead::ask_all(std::vector<std::string> payloads) {
  std::erase_if(series_, [&](const Series& one) { return one.payloads == payloads; });
  series_.push_back({std::move(payloads)});
}

bool AskedAhead::has_due() const {
  return !due_.empty() || std::ranges::any_of(series_, std::logical_not(), &Series::left);
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
  std::erase_if(series_, [&](const Series& one) { return one.payloads == asked_anyhow; });
  for (auto& series : series_)
    if (!std::exchange(series.left, true))
      leaving.insert(leaving.end(), series.payloads.begin(), series.payloads.end());
  return leaving;
}

/// The replies come in the order in which the series left; nothing comes between those of one.
bool AskedAhead::join_series(const std::string& payload, std::string& reply) {
  const auto open = std::ranges::find_if(series_, [](const Series& one) {
    return one.left && one.answers.size() < one.payloads.size();
  });
  if (open == series_.end() || open->payloads[open->answers.size()] != payload)
    return false;
  open->answers.push_back(std::move(reply));
  return true;
}

std::optional<std::vector<std::string>>
AskedAhead::take_all(std::span<const std::string> payloads) {
  const auto found = std::ranges::find_if(series_, [&](const Series& one) {
    return one.answers.size() == payloads.size() && std::ranges::equal(one.payloads, payloads);
  });
  if (found == series_.end())
    return std::nullopt;
  auto answers = std::move(found->answers);
  series_.erase(found);
  return answers;
}

void AskedAhead::answered(const std::string& payload, std::string reply) {
  if (join_series(payload, reply))
    return;
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
  series_.clear();
  std::erase_if(due_, [](const Due& due) { return due.wanted; });
}

} // namespace mqbridge::rsp
