#include "host/launch/node.h"

#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <sys/utsname.h>

namespace mqbridge {
namespace {

constexpr std::string_view local = "local:";
constexpr std::string_view ssh = "ssh:";
constexpr std::string_view srun = "srun:";

constexpr std::string_view forms =
    "write local:PID, ssh:[USER@]HOST:PID or srun:JOB:NODE:PID, for example ssh:n017:41822";

Failure bad(std::string_view text, std::string_view why) {
  return fail("endpoint.syntax", fmt::format("'{}' is no endpoint: {}", text, why),
              std::string(forms));
}

std::optional<std::int32_t> process_id(std::string_view text) {
  std::int32_t pid = 0; // pid_t
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0)
    return std::nullopt;
  return pid;
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Whether the text is one word for every shell, no option, and nothing that ssh expands or splits.
bool is_name(std::string_view text, std::string_view also) {
  constexpr std::size_t longest = 255;
  return !text.empty() && text.size() <= longest && text.front() != '-' &&
         std::ranges::all_of(text, [also](char c) {
           return is_letter_or_digit(c) || also.find(c) != std::string_view::npos;
         });
}

/// Whether the text may be a host's name, or an address of either family.
bool is_host(std::string_view text) {
  return is_name(text, text.find(':') == std::string_view::npos ? "._-" : ":.%");
}

bool is_login(std::string_view text) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos)
    return is_host(text);
  return is_name(text.substr(0, at), "._-+@") && is_host(text.substr(at + 1));
}

/// Whether the text may be a job: "123", "123+1" (component of a heterogeneous job), or "123_4" (of
/// an array).
bool is_slurm_job(std::string_view text) {
  return is_name(text, "+_") && text.front() >= '0' && text.front() <= '9';
}

std::string this_host() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string(names.nodename) : std::string("localhost");
}

std::string_view without_domain(std::string_view host) {
  return host.substr(0, host.find('.'));
}

Result<NodeProcess> parse_ssh(std::string_view text, std::string_view where, std::int64_t pid) {
  std::string host(where);
  if (const auto open = host.find('['); open != std::string::npos && host.back() == ']') {
    host.pop_back();
    host.erase(open, 1);
  } else if (std::ranges::count(where, ':') > 0) {
    return bad(text, "an IPv6 address stands in brackets, and ports in ssh's configuration");
  }
  if (!is_login(host))
    return bad(text, "the host is missing, or no host");
  return NodeProcess{std::string(text), {Launcher::ssh, std::move(host), {}}, pid};
}

Result<NodeProcess> parse_srun(std::string_view text, std::string_view where, std::int64_t pid) {
  const auto colon = where.find(':');
  if (colon == std::string_view::npos)
    return bad(text, "the job or the node is missing");
  const auto job = where.substr(0, colon);
  const auto host = where.substr(colon + 1);
  if (!is_slurm_job(job))
    return bad(text, "the job is no number of a Slurm job");
  if (!is_name(host, "._-"))
    return bad(text, "the node is missing, or no node's name");
  return NodeProcess{std::string(text), {Launcher::srun, std::string(host), std::string(job)}, pid};
}

} // namespace

std::string_view name_of(Launcher launcher) {
  switch (launcher) {
  case Launcher::local:
    return "local";
  case Launcher::ssh:
    return "ssh";
  case Launcher::srun:
    break;
  }
  return "srun";
}

std::string Node::name() const {
  if (launcher == Launcher::local)
    return this_host();
  return host.substr(host.rfind('@') + 1); // npos + 1 is 0
}

std::string Node::target(std::int64_t pid) const {
  switch (launcher) {
  case Launcher::local:
    return fmt::format("{}{}", local, pid);
  case Launcher::ssh: {
    const auto bare = host.rfind('@') + 1; // npos + 1 is 0
    const bool v6 = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}{}{}:{}", ssh, host.substr(0, bare), v6 ? "[" : "", host.substr(bare),
                       v6 ? "]" : "", pid);
  }
  case Launcher::srun:
    break;
  }
  return fmt::format("{}{}:{}:{}", srun, slurm_job, host, pid);
}

bool names_node_process(std::string_view text) {
  return text.starts_with(local) || text.starts_with(ssh) || text.starts_with(srun);
}

Result<NodeProcess> parse_node_process(std::string_view text) {
  const auto launcher_end = text.find(':');
  const auto pid_begin = text.rfind(':');
  const auto pid =
      pid_begin == std::string_view::npos ? std::nullopt : process_id(text.substr(pid_begin + 1));
  if (!pid)
    return bad(text, "what follows the last ':' is no process id");
  const auto where = pid_begin == launcher_end
                         ? std::string_view()
                         : text.substr(launcher_end + 1, pid_begin - launcher_end - 1);
  if (text.starts_with(ssh))
    return parse_ssh(text, where, *pid);
  if (text.starts_with(srun))
    return parse_srun(text, where, *pid);
  if (pid_begin != launcher_end)
    return bad(text, "what follows 'local:' is no process id");
  return NodeProcess{std::string(text), {}, *pid};
}

bool is_this_host(std::string_view host) {
  if (host == "localhost" || host == "127.0.0.1" || host == "::1")
    return true;
  const auto own = this_host();
  return host == own || host == without_domain(own);
}

Result<Node> node_named(std::string_view host, Launcher launcher, std::string_view slurm_job) {
  if (launcher != Launcher::srun && is_this_host(host))
    return Node{};
  return other_node(host, launcher, slurm_job);
}

Result<Node> other_node(std::string_view host, Launcher launcher, std::string_view slurm_job) {
  if (launcher == Launcher::local)
    return fail(
        "node.name",
        fmt::format("{} is not this host: the launcher local reaches no other", printable(host)),
        "--launcher ssh");
  const bool fits = launcher == Launcher::ssh ? is_login(host) : is_name(host, "._-");
  if (!fits || (launcher == Launcher::srun && !is_slurm_job(slurm_job)))
    return fail(
        "node.name",
        fmt::format("'{}' is not used as a node's name: {} could take it for something else",
                    printable(host), name_of(launcher)),
        "a node's name has letters, digits, dots and hyphens, and begins with none of these "
        "two; give it another one in ssh's configuration");
  return Node{launcher, std::string(host), std::string(slurm_job)};
}

} // namespace mqbridge
