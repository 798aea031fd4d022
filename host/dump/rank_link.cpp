#include "host/dump/rank_link.h"

#include "host/dump/command_host.h"
#include "host/process/environment.h"
#include "rsp/client/shared_stub.h"
#include "rsp/exchange/connection.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <variant>

namespace mqbridge {
namespace {

/// Beyond --max-stop, until the guardian releases the target: this process needs no such time where
/// nothing but the stub keeps it waiting, and says more of what it has read.
constexpr std::chrono::milliseconds guardians_patience{250};

std::optional<std::string> host_of(const rsp::Endpoint& endpoint) {
  constexpr std::string_view exec = "exec:";
  if (const auto* tcp = std::get_if<rsp::TcpEndpoint>(&endpoint.where))
    return tcp->host;
  if (endpoint.text.starts_with(exec))
    return command_host(std::string_view(endpoint.text).substr(exec.size()));
  std::array<char, 256> name{};
  const bool here = std::holds_alternative<rsp::UnixEndpoint>(endpoint.where) || endpoint.local_pid;
  if (here && gethostname(name.data(), name.size() - 1) == 0)
    return name.data();
  return std::nullopt;
}

} // namespace

RankLink::RankLink(const TargetSpec& target, const SharedTools& tools)
    : target_(target), tools_(tools) {}

void RankLink::name_target(RankDump& dump, const rsp::Endpoint& endpoint) {
  dump.endpoint = endpoint.text;
  dump.host = host_of(endpoint);
  dump.pid = endpoint.local_pid ? endpoint.local_pid : endpoint.pid;
}

bool RankLink::starts_stub(const rsp::Endpoint& endpoint) {
  return endpoint.local_pid.has_value();
}

void RankLink::begin_hold(Clock::time_point since) {
  contact_ = since;
  stopped_at_ =
      std::chrono::system_clock::now() -
      std::chrono::duration_cast<std::chrono::system_clock::duration>(Clock::now() - since);
}

Result<void> RankLink::connect(std::shared_ptr<rsp::SharedStub>& stub, std::stop_token stop) {
  begin_hold();
  auto client = connect_or_share(stub, std::move(stop));
  if (!client)
    return forward(std::move(client));
  client_ = std::move(*client);
  const bool on_stdio = std::holds_alternative<rsp::CommandEndpoint>(target_.endpoint.where);
  if (on_stdio && !starts_stub(target_.endpoint))
    begin_hold(client_->heard_since());
  else // one that is shared was made before, for another target
    begin_hold(std::max(contact_, client_->stub()->opened()));
  if (target_.endpoint.pid)
    stub = client_->stub();
  return {};
}

Result<std::unique_ptr<rsp::Client>>
RankLink::connect_or_share(std::shared_ptr<rsp::SharedStub>& stub, std::stop_token stop) {
  const auto& endpoint = target_.endpoint;
  if (stub && stub->usable() && endpoint.pid)
    return rsp::Client::share(stub, endpoint);
  const bool left = stub && stub->left_after_refusal();
  stub.reset(); // it talks to one client at a time
  const auto& options = tools_.options;
  auto client = rsp::Client::connect(endpoint, {options.connect_timeout, options.silence_timeout,
                                                options.trace, &tools_.guardian, std::move(stop)});
  if (!client && left)
    return fail("attach.server_left",
                fmt::format("{}: the server ended when it could not attach to the process before "
                            "this one, as gdbserver --once does",
                            endpoint.text),
                "on the node: gdbserver --multi :PORT    (without --once)");
  return client;
}

Result<rsp::Attachment> RankLink::attach() {
  const auto first_contact = std::pair(contact_, stopped_at_);
  if (target_.endpoint.pid) // it is stopped from here on; any other was from first contact on
    begin_hold();
  limit_hold();
  auto attachment = rsp::attach(*client_, rank_variables());
  if (attachment && attachment->stopped_before_us) {
    std::tie(contact_, stopped_at_) = first_contact;
    limit_hold();
  }
  return attachment;
}

Result<rsp::RunReport> RankLink::run(rsp::Attachment& attachment) {
  client_->set_deadline(std::nullopt);
  client_->connection().set_guardians_deadline(std::nullopt);
  auto report = rsp::run_until(*client_, *tools_.options.run_until, attachment);
  if (!report)
    return report;
  begin_hold();
  limit_hold();
  return report;
}

/// The guardian knows, too: a file of this host may keep us from noticing the time.
void RankLink::limit_hold() {
  if (const auto end = limit(1.0))
    client_->connection().set_guardians_deadline(*end + guardians_patience);
}

std::optional<RankLink::Clock::time_point> RankLink::released_for_us() const {
  return client_ ? client_->connection().taken_over() : std::nullopt;
}

std::optional<RankLink::Clock::time_point> RankLink::deadline(double share) const {
  const auto& max_stop = tools_.options.max_stop;
  if (!max_stop)
    return std::nullopt;
  return contact_ + std::chrono::duration_cast<Clock::duration>(*max_stop * share);
}

std::optional<RankLink::Clock::time_point>
RankLink::limit(double share, std::optional<Clock::time_point> at_most) {
  const auto end = deadline(share);
  if (end || at_most)
    client_->set_deadline(std::min(end.value_or(Clock::time_point::max()),
                                   at_most.value_or(Clock::time_point::max())));
  return end;
}

} // namespace mqbridge
