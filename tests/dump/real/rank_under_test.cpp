#include "tests/dump/real/rank_under_test.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace mqbridge::test {
namespace {

template <class T>
T or_throw(Result<T> result) {
  if (!result)
    throw std::runtime_error(result.error().message);
  return std::move(*result);
}

} // namespace

RankUnderTest::RankUnderTest(const std::string& program, const std::vector<std::string>& arguments,
                             ServerMode mode, const bench::LinkSpec& link)
    : process_(program, arguments), server_(mode, process_.pid()),
      link_(
          or_throw(bench::DelayingLink::open(fmt::format("127.0.0.1:{}", server_.port()), link))) {}

TargetSpec RankUnderTest::target() const {
  return or_throw(TargetSpec::parse(link_->endpoint() + server_.process_suffix()));
}

DumpTools::DumpTools()
    : files_(FilePaths{}), fetcher_({.mode = FetchMode::never}, std::nullopt),
      guardian_(or_throw(rsp::Guardian::start(MQBRIDGE_PROGRAM_DIRECTORY "/mqbridge-guardian"))) {
  options.program_directory = MQBRIDGE_PROGRAM_DIRECTORY;
  options.pack_directories = {MQBRIDGE_PROGRAM_DIRECTORY "/packs"};
  options.dll.own_directories = {MQBRIDGE_PROGRAM_DIRECTORY};
}

RankOutcome dump(const RankUnderTest& rank, DumpTools& tools, const RankObserver& observer) {
  std::shared_ptr<rsp::SharedStub> stub;
  return dump_rank(rank.target(), tools.tools(), stub, observer, {});
}

std::size_t receives_of(const RankDump& dump) {
  std::size_t count = 0;
  for (const auto& communicator : dump.communicators)
    count += communicator.queue(OpClass::receive).operations.size();
  return count;
}

const Phase* find_phase(const RankDump& dump, PhaseName name) {
  const auto& phases = dump.statistics.phases;
  const auto found = std::find_if(phases.begin(), phases.end(),
                                  [&](const Phase& phase) { return phase.name == name; });
  return found == phases.end() ? nullptr : &*found;
}

std::string errors_of(const RankDump& dump) {
  std::string text;
  for (const auto& error : dump.errors)
    text += fmt::format("{}: {}\n", error.code, error.message);
  return text;
}

} // namespace mqbridge::test
