#include "rsp/server/door.h"

#include <utility>

namespace mqbridge::rsp {

Door::Door(Listener listener, Bell& bell)
    : listener_(std::move(listener)), bell_(bell),
      thread_([this](const std::stop_token& stop) { let_in(stop); }) {}

void Door::let_in(const std::stop_token& stop) {
  constexpr std::size_t most_inside = 8;
  for (bool is_open = true; is_open;) {
    auto client = listener_.accept(stop);
    is_open = client.has_value();
    {
      const std::lock_guard lock(mutex_);
      if (!client)
        broken_ = client.error();
      else if (waiting_.size() < most_inside) // who comes when so many wait is sent away
        waiting_.push_back(std::move(*client));
    }
    bell_.ring();
  }
}

std::optional<UniqueFd> Door::take() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty())
    return std::nullopt;
  UniqueFd client = std::move(waiting_.front());
  waiting_.pop_front();
  return client;
}

Result<UniqueFd> Door::wait(const std::stop_token& stop,
                            std::optional<Bell::Clock::time_point> until) {
  const std::stop_callback wake(stop, [&] { bell_.ring(); });
  for (;;) {
    if (auto client = take())
      return std::move(*client);
    {
      const std::lock_guard lock(mutex_);
      if (broken_)
        return Failure(*broken_);
    }
    if (stop.stop_requested() || (until && Bell::Clock::now() >= *until))
      return fail("interrupted", "no debugger has connected");
    bell_.wait(until);
  }
}

} // namespace mqbridge::rsp
