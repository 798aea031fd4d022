#include "tests/e2e/harness/traffic.h"

#include "tests/e2e/harness/queue_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

constexpr auto comm_names = {"MPI_COMM_WORLD", "dup", "reversed", "between"};

/// What a rank says it did.
struct Log {
  std::vector<json> sent; ///< in order
  std::vector<json> late;
  std::vector<json> bursts;
  std::vector<json> receives;
  std::set<std::tuple<std::string, int, int>> received; ///< communicator, sender, tag
};

Log read_log(const std::filesystem::path& file) {
  Log log;
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);) {
    json line = json::parse(text);
    const std::string kind = line["line"];
    if (kind == "received")
      log.received.emplace(line["communicator"], line["from"], line["tag"]);
    else
      (kind == "irecv"   ? log.receives
       : kind == "late"  ? log.late
       : kind == "burst" ? log.bursts
                         : log.sent)
          .push_back(std::move(line));
  }
  return log;
}

std::string message_text(int from, const json& local_rank, const json& tag, const json& bytes,
                         const json& protocol) {
  return fmt::format("from {} ({}) tag {}, {} bytes, {}", from, local_rank.dump(), tag.dump(),
                     bytes.dump(), protocol.dump());
}

class Comparison {
public:
  Comparison(const std::filesystem::path& step, const json& document) : document_(document) {
    for (std::size_t rank = 0; rank < document["ranks"].size(); ++rank)
      logs_.push_back(read_log(step / fmt::format("traffic.{}", rank)));
  }

  std::vector<std::string> differences() {
    for (int rank = 0; rank < ranks(); ++rank) {
      const json& dumped = rank_of(rank);
      if (dumped["status"] != "ok")
        say(rank, dumped["status"].dump() + dumped["errors"].dump());
      for (const auto& found : internal_operations(dumped))
        say(rank, "is not inside of anything: " + found.text());
      for (const char* comm : comm_names) {
        const json& communicator = communicator_of(rank, comm);
        if (communicator.is_null())
          continue;
        compare_unexpected(rank, communicator);
        compare_receives(rank, communicator);
        compare_counters(rank, communicator);
      }
    }
    return std::move(out_);
  }

private:
  int ranks() const { return static_cast<int>(logs_.size()); }
  const Log& log_of(int rank) const { return logs_[static_cast<std::size_t>(rank)]; }
  const json& rank_of(int rank) const { return document_["ranks"][static_cast<std::size_t>(rank)]; }
  // There may be much in it.
  const json& communicator_of(int rank, const std::string& name) const {
    static const json none;
    for (const json& communicator : rank_of(rank)["communicators"])
      if (communicator["name"] == name)
        return communicator;
    return none;
  }
  void say(int rank, const std::string& text) {
    out_.push_back(fmt::format("rank {}: {}", rank, text));
  }

  // By sender, each in its order. What is complete for its sender and not received went at once.
  std::vector<std::string> expected_unexpected(int to, const std::string& comm) const {
    std::vector<std::string> messages;
    for (int from = 0; from < ranks(); ++from)
      for (const json& line : log_of(from).sent)
        if (line["to"] == to && line["communicator"] == comm &&
            log_of(to).received.count({comm, from, line["tag"].get<int>()}) == 0)
          messages.push_back(message_text(from, line["local_rank"], line["tag"], line["bytes"],
                                          line["complete"] == true ? "eager" : "rendezvous"));
    return messages;
  }

  void compare_unexpected(int rank, const json& communicator) {
    const std::string comm = communicator["name"];
    const json& queue = communicator["queues"]["unexpected"];
    if (queue["state"] != "available" || queue["total"] != queue["operations"].size())
      say(rank, fmt::format("{} unexpected is {}, {}", comm, queue["state"].dump(),
                            queue["total"].dump()));
    std::vector<std::string> dumped;
    for (int from = 0; from < ranks(); ++from)
      for (const json& operation : queue["operations"])
        if (operation["peer"]["global_rank"] == from)
          dumped.push_back(message_text(from, operation["peer"]["local_rank"],
                                        operation["tag"]["value"], operation["length"]["value"],
                                        operation["protocol"]));
    if (dumped.size() != queue["operations"].size())
      say(rank, comm + ": unexpected messages of nobody");
    compare_lists(rank, comm + " unexpected", expected_unexpected(rank, comm), dumped);
    for (const json& operation : queue["operations"])
      if (operation["kind"] != "message" || operation["status"] != "pending" ||
          operation["source"] != "mqbridge" || !operation["actual"].is_null() ||
          !operation["buffer"].is_null() || operation["length"]["unit"] != "bytes" ||
          operation["tag"]["any"] != false || operation["peer"]["any"] != false)
        say(rank, "no message of mqbridge's: " + operation.dump());
  }

  void compare_receives(int rank, const json& communicator) {
    const std::string comm = communicator["name"];
    const auto text = [](const json& peer, const json& tag, const json& bytes) {
      return fmt::format("from {} tag {}, {} bytes", peer.dump(), tag.dump(), bytes.dump());
    };
    std::vector<std::string> posted;
    for (const json& line : log_of(rank).receives)
      if (line["complete"] == false && line["communicator"] == comm)
        posted.push_back(text(line["to"], line["tag"], line["bytes"]));
    std::vector<std::string> dumped;
    for (const json& operation : communicator["queues"]["receive"]["operations"])
      if (operation["status"] == "pending")
        dumped.push_back(
            text(operation["peer"]["any"] == true ? json(-1) : operation["peer"]["global_rank"],
                 operation["tag"]["any"] == true ? json(-1) : operation["tag"]["value"],
                 operation["length"]["value"]));
    std::sort(posted.begin(), posted.end());
    std::sort(dumped.begin(), dumped.end());
    compare_lists(rank, comm + " receive", posted, dumped);
  }

  void compare_lists(int rank, const std::string& where, const std::vector<std::string>& expected,
                     const std::vector<std::string>& dumped) {
    const auto [left, right] =
        std::mismatch(expected.begin(), expected.end(), dumped.begin(), dumped.end());
    if (left == expected.end() && right == dumped.end())
      return;
    say(rank, fmt::format("{}: {} for {}; the {}. is {}, should be {}", where, dumped.size(),
                          expected.size(), left - expected.begin(),
                          right == dumped.end() ? "missing" : *right,
                          left == expected.end() ? "nothing" : *left));
  }

  static std::int64_t counter(const json& communicator, const json& peer, const char* field) {
    for (const json& each : communicator["counters"]["peers"])
      if (each["peer"] == peer)
        return each[field].is_number() ? each[field].get<std::int64_t>() : -1;
    return 0;
  }

  // From this rank to each other one.
  void compare_counters(int from, const json& communicator) {
    const std::string comm = communicator["name"];
    if (!communicator["counters"].is_object()) {
      say(from, comm + " has no counters");
      return;
    }
    const std::int64_t modulus = communicator["counters"]["modulus"];
    const auto count = [&](const std::vector<json>& lines, int to) {
      return std::count_if(lines.begin(), lines.end(), [&](const json& line) {
        return line["communicator"] == comm && line["to"] == to;
      });
    };
    for (int to = 0; to < ranks(); ++to) {
      const json& other = communicator_of(to, comm);
      const json local = peer_rank(communicator, other, comm);
      if (local.is_null() || !other["counters"].is_object())
        continue;
      const auto sent = counter(communicator, other["local_rank"], "sent");
      const auto arrived = counter(other, communicator["local_rank"], "arrived");
      const auto late = count(log_of(from).late, to);
      if ((sent - arrived + modulus) % modulus != late)
        say(from, fmt::format("{} to {}: {} sent, {} arrived, should be {} under way", comm, to,
                              sent, arrived, late));
      auto all = count(log_of(from).sent, to) + late;
      for (const json& burst : log_of(from).bursts)
        if (burst["communicator"] == comm && burst["to"] == to)
          all += burst["bytes"].get<std::int64_t>();
      if (comm != "MPI_COMM_WORLD" && sent != all % modulus)
        say(from, fmt::format("{} to {}: {} sent, should be {}", comm, to, sent, all));
    }
  }

  // Null where an intercommunicator has both on one side.
  static json peer_rank(const json& communicator, const json& other, const std::string& comm) {
    if (other.is_null() || (comm == "between" && communicator["group"] == other["group"]))
      return nullptr;
    return other["local_rank"];
  }

  const json& document_;
  std::vector<Log> logs_;
  std::vector<std::string> out_;
};

} // namespace

std::vector<std::string> traffic_differences(const std::filesystem::path& step,
                                             const json& document) {
  return Comparison(step, document).differences();
}

} // namespace mqbridge::e2e
