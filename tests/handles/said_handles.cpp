#include "tests/handles/said_handles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge {
namespace {

using nlohmann::json;

std::string text_of(const json& value) {
  if (value.is_boolean())
    return value.get<bool>() ? "1" : "0";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string list_of(const json& values) {
  std::vector<std::string> texts;
  for (const json& value : values)
    texts.push_back(text_of(value));
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string ranks_of(const json& runs) {
  std::vector<int> ranks;
  for (const json& run : runs) {
    const int last = run[1], step = run[2];
    for (int rank = run[0]; rank <= last; rank += step)
      ranks.push_back(rank);
  }
  return fmt::format("{}", fmt::join(ranks, ","));
}

/// Takes keys of a document under the program's names.
class Taken {
public:
  explicit Taken(const json& from) : from_(from) {}

  void text(const char* key, const char* as = nullptr) { take(key, as, text_of); }
  void list(const char* key, const char* as = nullptr) { take(key, as, list_of); }
  void ranks(const char* key) { take(key, nullptr, ranks_of); }
  /// Where the document has null, the program says the empty text.
  void name() { facts_["name"] = {from_["name"].is_null() ? "" : text_of(from_["name"])}; }

  const json& from() const { return from_; }
  Facts& facts() { return facts_; }

private:
  void take(const char* key, const char* as, std::string (*words)(const json&)) {
    if (!from_.at(key).is_null())
      facts_[as != nullptr ? as : key] = {words(from_[key])};
  }

  const json& from_;
  Facts facts_;
};

void take_topology(Taken& taken) {
  const json& topology = taken.from()["topology"];
  if (topology.is_null())
    return;
  Taken some(topology);
  some.text("kind", "topology");
  some.text("reordered");
  const auto kind = topology["kind"].get<std::string>();
  if (kind == "cartesian") {
    some.list("dims");
    some.list("periods");
  } else if (kind == "graph") {
    some.list("index");
    some.list("edges");
  } else if (kind == "dist_graph") {
    for (const char* key : {"sources", "destinations", "source_weights", "destination_weights"})
      some.list(key);
    if (topology["source_weights"].empty() && topology["destination_weights"].empty())
      some.facts()["source_weights"] = some.facts()["destination_weights"] = {"none"};
  }
  taken.facts().merge(some.facts());
}

Facts communicator(const json& from) {
  if (from["null"] == true)
    return {{"null", {"1"}}};
  Taken taken(from);
  taken.name();
  for (const char* key : {"fortran", "predefined", "freed", "rank", "size", "errhandler"})
    taken.text(key);
  taken.text("intercommunicator", "inter");
  taken.ranks("group");
  taken.ranks("remote_group");
  take_topology(taken);
  for (const json& each : from["attributes"]) {
    const auto name = text_of(each[each["name"].is_null() ? "keyval" : "name"]);
    taken.facts()["attribute"].insert(fmt::format("{} {}", name, text_of(each["value"])));
  }
  return taken.facts();
}

Facts request(const json& from) {
  Taken taken(from);
  for (const char* key :
       {"fortran", "kind", "state", "persistent", "peer", "tag", "count", "bytes", "buffer",
        "datatype", "actual_source", "actual_tag", "actual_bytes", "error", "cancelled"})
    taken.text(key);
  taken.text("communicator", "comm");
  if (from["kind"] == "receive")
    taken.facts()["met"] = {from["actual_source"].is_null() ? "0" : "1"};
  return taken.facts();
}

Facts errhandler(const json& from) {
  Taken taken(from);
  taken.name();
  for (const char* key : {"fortran", "predefined", "freed", "callback"})
    taken.text(key);
  taken.text("c_callback", "c");
  taken.list("attached_to", "attached");
  for (const auto& [key, word] : {std::pair("for_communicators", "comm"),
                                  std::pair("for_windows", "win"), std::pair("for_files", "file")})
    if (from[key] == true)
      taken.facts()["for"].insert(word);
  return taken.facts();
}

Facts status(const json& from) {
  if (from["ignore"] == true)
    return {{"ignore", {"1"}}};
  Taken taken(from);
  for (const char* key : {"source", "tag", "cancelled", "bytes"})
    taken.text(key);
  return taken.facts();
}

} // namespace

HandleFacts facts_of(const json& handles) {
  struct Kind {
    const char *list, *value, *name;
    Facts (*facts)(const json&);
  };
  static constexpr Kind kinds[] = {{"communicators", "handle", "comm", communicator},
                                   {"requests", "handle", "request", request},
                                   {"errhandlers", "handle", "errhandler", errhandler},
                                   {"statuses", "address", "status", status}};
  HandleFacts facts;
  for (const auto& [list, value, name, read] : kinds)
    for (const json& each : handles[list])
      facts[fmt::format("{} {}", name, text_of(each[value]))] = read(each);
  return facts;
}

} // namespace mqbridge
