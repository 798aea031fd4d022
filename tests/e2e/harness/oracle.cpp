#include "tests/e2e/harness/oracle.h"

#include "tests/e2e/harness/queue_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

constexpr auto compared_fields = {"status", "peer", "tag", "length", "system_buffer"};
// Compared where the poster wrote them: what came, what it knows, and what not every MPI says.
constexpr auto optional_fields = {"buffer", "actual", "call",     "datatype",
                                  "count",  "kind",   "delivered"};

// The part of an operation that both sides know, as text that sorts and prints.
std::string canonical(const json& operation, const json& posted) {
  json kept;
  for (const char* field : compared_fields)
    kept[field] = operation.value(field, json());
  for (const char* field : optional_fields)
    if (posted.contains(field))
      kept[field] = operation.value(field, json());
  return kept.dump();
}

json as_dumped(const json& posted) {
  json operation = posted;
  operation["length"] = {{"value", posted["length"]},
                         {"unit", posted["length"].is_null() ? "unknown" : "bytes"}};
  return operation;
}

// The queues that the poster's MPI provides: not every one tells its unexpected messages.
std::vector<const char*> provided_queues(const Oracle& oracle) {
  std::vector<const char*> queues = {"send", "receive"};
  const auto& all = oracle.operations;
  if (std::any_of(all.begin(), all.end(),
                  [](const json& operation) { return operation["queue"] == "unexpected"; }))
    queues.push_back("unexpected");
  return queues;
}

using OperationsByQueue = std::map<std::pair<std::string, std::string>, std::vector<json>>;

OperationsByQueue posted_queues(const Oracle& oracle) {
  OperationsByQueue queues;
  for (const json& communicator : oracle.communicators) {
    for (const char* queue : provided_queues(oracle))
      queues[{communicator["communicator"], queue}];
  }
  for (const json& operation : oracle.operations)
    queues[{operation["communicator"], operation["queue"]}].push_back(as_dumped(operation));
  return queues;
}

// Takes one dumped operation that agrees with the posted one; false if there is none.
bool take_match(const json& posted, std::vector<json>& dumped) {
  const std::string wanted = canonical(posted, posted);
  const auto found = std::find_if(dumped.begin(), dumped.end(), [&](const json& candidate) {
    return canonical(candidate, posted) == wanted;
  });
  if (found == dumped.end())
    return false;
  dumped.erase(found);
  return true;
}

void compare_queue(const std::string& where, const std::vector<json>& posted, const json& queue,
                   std::vector<std::string>& out) {
  if (queue.value("state", "") != "available") {
    out.push_back(fmt::format("{}: state is {}", where, queue.value("state", json()).dump()));
    return;
  }
  std::vector<json> dumped = queue["operations"].get<std::vector<json>>();
  if (queue["total"] != dumped.size())
    out.push_back(fmt::format("{}: total is {}, operations are {}", where, queue["total"].dump(),
                              dumped.size()));
  std::erase_if(dumped, is_internal); // the program knows of no such operation
  for (const json& operation : posted) {
    if (!take_match(operation, dumped))
      out.push_back(fmt::format("{}: missing {}", where, canonical(operation, operation)));
  }
  for (const json& extra : dumped)
    out.push_back(fmt::format("{}: nobody posted {}", where, canonical(extra, extra)));
}

void compare_communicator(const json& posted, const json& dumped, std::vector<std::string>& out) {
  const std::string name = posted["communicator"];
  for (const char* field : {"local_rank", "size"}) {
    if (dumped.value(field, json()) != posted[field])
      out.push_back(fmt::format("{}: {} is {}, should be {}", name, field,
                                dumped.value(field, json()).dump(), posted[field].dump()));
  }
  const std::vector<long> group = expand_runs(dumped.value("group", json()));
  if (group != posted["group"].get<std::vector<long>>())
    out.push_back(fmt::format("{}: group is {}, should be {}", name, dumped["group"].dump(),
                              posted["group"].dump()));
}

// Open MPI's own name for a communicator that nobody named (4.1's, or 5's), and nothing in it.
bool is_the_librarys(const std::string& name, const json& communicator) {
  const auto is_unused = [&](const char* queue) {
    const json& operations = communicator["queues"][queue]["operations"];
    return std::all_of(operations.begin(), operations.end(), is_internal);
  };
  const bool is_own_name = name.starts_with("MPI COMMUNICATOR ") || name.starts_with("MPI COMM ");
  return is_own_name && is_unused("send") && is_unused("receive");
}

// In place, by their text.
void sort(json& array) {
  std::sort(array.begin(), array.end(),
            [](const json& left, const json& right) { return left.dump() < right.dump(); });
}

} // namespace

json comparable_communicators(const json& rank) {
  static const std::regex address("0x[0-9a-f]+");
  json communicators = rank["communicators"];
  for (json& communicator : communicators) {
    communicator.erase("id");
    for (json& queue : communicator["queues"]) {
      for (json& operation : queue["operations"]) {
        for (const char* field : {"buffer", "request", "repairs"})
          operation.erase(field);
        for (json& line : operation["text"])
          line = std::regex_replace(line.get<std::string>(), address, "ADDRESS");
      }
      sort(queue["operations"]);
    }
  }
  sort(communicators);
  return communicators;
}

std::vector<long> expand_runs(const json& runs) {
  std::vector<long> all;
  if (!runs.is_array())
    return all;
  for (const json& run : runs) {
    const long first = run.at(0);
    const long last = run.at(1);
    const long step = run.at(2);
    for (long rank = first; step > 0 ? rank <= last : rank >= last; rank += step) {
      all.push_back(rank);
      if (step == 0)
        break;
    }
  }
  return all;
}

Oracle read_oracle(const std::filesystem::path& directory, int rank) {
  Oracle oracle;
  std::ifstream in(directory / fmt::format("oracle.{}", rank));
  for (std::string line; std::getline(in, line);) {
    json parsed = json::parse(line);
    if (parsed["line"] == "internal") {
      oracle.internal = parsed["count"];
      continue;
    }
    auto& list = parsed["line"] == "communicator" ? oracle.communicators : oracle.operations;
    list.push_back(std::move(parsed));
  }
  return oracle;
}

std::vector<std::string> differences(const Oracle& oracle, const json& rank) {
  std::vector<std::string> out;
  std::map<std::string, json> dumped;
  for (const json& communicator : rank["communicators"]) {
    const std::string name = communicator["name"];
    if (!dumped.emplace(name, communicator).second)
      out.push_back(fmt::format("two communicators are called {}", name));
  }
  const OperationsByQueue queues = posted_queues(oracle);
  for (const json& posted : oracle.communicators) {
    const std::string name = posted["communicator"];
    const auto found = dumped.find(name);
    if (found == dumped.end()) {
      out.push_back(fmt::format("communicator {} is missing", name));
      continue;
    }
    compare_communicator(posted, found->second, out);
    for (const char* queue : provided_queues(oracle))
      compare_queue(fmt::format("{} {}", name, queue), queues.at({name, queue}),
                    found->second["queues"][queue], out);
    dumped.erase(found);
  }
  int internal = 0;
  for (const auto& [name, communicator] : dumped) {
    if (is_the_librarys(name, communicator))
      ++internal;
    else
      out.push_back(fmt::format("nobody made communicator {}", name));
  }
  if (internal != oracle.internal)
    out.push_back(
        fmt::format("{} communicators of the library, should be {}", internal, oracle.internal));
  return out;
}

} // namespace mqbridge::e2e
