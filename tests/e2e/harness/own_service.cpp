#include "tests/e2e/harness/own_service.h"

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"

#include <fstream>
#include <stdexcept>

namespace mqbridge::e2e {

using namespace std::chrono_literals;
using nlohmann::json;

OwnService::OwnService(pid_t launcher, const std::string& more) {
  configure("[[job]]\nname = \"ring\"\nmpirun = " + std::to_string(launcher) + "\n" + more);
  start();
}

void OwnService::configure(const std::string& text) const {
  std::ofstream(directory_ / "service.toml") << text;
}

void OwnService::start() {
  process_.emplace(mqbridge_command({"serve", "--open", "--listen", socket(), "--state",
                                     (directory_ / "looks").string(), "--config",
                                     (directory_ / "service.toml").string()}));
  if (!test::eventually(10s, [this] { return !link().empty(); }))
    throw std::runtime_error("the service does not begin: " + process_->err());
}

std::string OwnService::link() const {
  const std::string said = process_->out();
  const auto begin = said.find("http://");
  const auto end = said.find('\n', begin);
  return begin == said.npos || end == said.npos ? "" : said.substr(begin, end - begin);
}

json OwnService::job() const {
  const auto jobs = run_mqbridge({"jobs", "--service", socket(), "--format", "json"});
  const json all = json::parse(jobs.out, nullptr, false);
  return all.is_object() && !all["jobs"].empty() ? all["jobs"][0] : json();
}

} // namespace mqbridge::e2e
