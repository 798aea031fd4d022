#include "host/service/visitors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/random.h>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::string_view cookie_name = "mqbridge=";

/// 256 bits that nobody can guess. They are looked up by tree, and their time tells nothing that
/// helps: a guess would need to share a beginning of many bytes.
std::string secret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the kernel gives no random numbers");
  std::string text;
  for (const unsigned char byte : bytes)
    text += fmt::format("{:02x}", byte);
  return text;
}

} // namespace

Visitors::Visitors(std::string address)
    : address_(std::move(address)), path_("/" + secret().substr(0, 32)) {}

std::string Visitors::invite(Clock::time_point now) {
  constexpr std::chrono::minutes good_for{5};
  constexpr std::size_t most = 100;
  const std::lock_guard lock(mutex_);
  std::erase_if(keys_, [&](const auto& key) { return key.second < now; });
  if (keys_.size() >= most)
    keys_.erase(keys_.begin());
  return fmt::format("http://{}{}/enter?key={}", address_, path_,
                     keys_.emplace(secret(), now + good_for).first->first);
}

std::optional<std::string> Visitors::enter(std::string_view key, Clock::time_point now) {
  constexpr std::size_t most = 1000;
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  const bool is_good = found != keys_.end() && found->second >= now;
  if (found != keys_.end())
    keys_.erase(found);
  if (!is_good || cookies_.size() >= most)
    return std::nullopt;
  return fmt::format("{}{}; Path={}/; HttpOnly; SameSite=Strict", cookie_name,
                     *cookies_.insert(secret()).first, path_);
}

bool Visitors::knows(std::string_view cookies) const {
  const std::lock_guard lock(mutex_);
  while (!cookies.empty()) {
    auto cookie = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(cookie.size() + 1, cookies.size()));
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    if (cookie.starts_with(cookie_name) && cookies_.contains(cookie.substr(cookie_name.size())))
      return true;
  }
  return false;
}

} // namespace mqbridge
