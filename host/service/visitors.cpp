#include "host/service/visitors.h"

#include "host/disk/output_file.h"
#include "host/disk/text_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <sys/random.h>
#include <utility>

namespace mqbridge {
namespace {

using nlohmann::json;

constexpr std::string_view cookie_name = "mqbridge=";

constexpr std::size_t path_digits = 32;
constexpr std::size_t cookie_digits = 64;

/// Whether it is a secret of so many digits, as below.
bool is_secret(const json& value, std::size_t digits) {
  return value.is_string() && value.get_ref<const std::string&>().size() == digits &&
         value.get_ref<const std::string&>().find_first_not_of("0123456789abcdef") ==
             std::string::npos;
}

/// 256 bits that nobody can guess. The time of a comparison tells nothing that helps: a guess would
/// need to share a beginning of many bytes.
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

Visitors::Visitors(std::filesystem::path memory)
    : memory_(std::move(memory)), path_("/" + secret().substr(0, path_digits)) {
  const auto text = read_text_file(memory_.string());
  const json kept = text ? json::parse(*text, nullptr, false) : json();
  if (!kept.is_object() || !is_secret(kept.value("path", json()), path_digits) ||
      !kept.value("port", json()).is_number_unsigned() || !kept.value("cookies", json()).is_array())
    return;
  path_ = "/" + kept["path"].get<std::string>();
  port_ = kept["port"].get<std::uint16_t>();
  for (const json& cookie : kept["cookies"])
    if (is_secret(cookie, cookie_digits))
      cookies_.push_back(cookie);
}

void Visitors::set_address(const std::string& address) {
  address_ = address;
  port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  remember();
}

/// Where it cannot be kept, the next service has another path, and browsers need a new link.
void Visitors::remember() const {
  const json kept = {{"port", port_}, {"path", path_.substr(1)}, {"cookies", cookies_}};
  static_cast<void>(write_file(memory_, kept.dump()));
}

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
  constexpr std::size_t most = 100;
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(key);
  const bool is_good = found != keys_.end() && found->second >= now;
  if (found != keys_.end())
    keys_.erase(found);
  if (!is_good)
    return std::nullopt;
  if (cookies_.size() >= most)
    cookies_.erase(cookies_.begin());
  cookies_.push_back(secret());
  remember();
  return fmt::format("{}{}; Path={}/; HttpOnly; SameSite=Strict", cookie_name, cookies_.back(),
                     path_);
}

bool Visitors::knows(std::string_view cookies) const {
  const std::lock_guard lock(mutex_);
  while (!cookies.empty()) {
    auto cookie = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(cookie.size() + 1, cookies.size()));
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    if (cookie.starts_with(cookie_name) &&
        std::ranges::find(cookies_, cookie.substr(cookie_name.size())) != cookies_.end())
      return true;
  }
  return false;
}

} // namespace mqbridge
