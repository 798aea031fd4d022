// The schema has the members that the values are described with, and no others: the same keys, the
// same types, null where it may be null, and the same words.

#include "host/document/analysis_members.h"
#include "host/document/rank_members.h"
#include "tests/document/json_schema.h"

#include <concepts>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::test {
namespace {

using nlohmann::json;

/// Names of types as the schema has them, and in quotes the words of an enumeration.
using Types = std::set<std::string>;

Types or_nothing(Types types) {
  types.insert("null");
  return types;
}

template <class E>
void add_word(Types& types, const Word<E>& word) {
  types.insert(word.text.empty() ? "null" : '"' + std::string(word.text) + '"');
}

template <class T>
struct TypesOf {
  static Types types() {
    if constexpr (std::same_as<T, bool>)
      return {"boolean"};
    else if constexpr (std::integral<T>)
      return {"integer"};
    else if constexpr (std::floating_point<T>)
      return {"number"};
    else if constexpr (std::same_as<T, std::string> || std::same_as<T, TargetAddress>)
      return {"string"};
    else
      return {"array"};
  }
};
template <Worded E>
struct TypesOf<E> {
  static Types types() {
    Types types;
    for (const auto& word : document_words<E>)
      add_word(types, word);
    return types;
  }
};
template <class T>
struct TypesOf<std::optional<T>> {
  static Types types() { return or_nothing(TypesOf<T>::types()); }
};
template <class T, T unknown>
struct TypesOf<CompactOptional<T, unknown>> : TypesOf<std::optional<T>> {};
template <>
struct TypesOf<SharedText> : TypesOf<std::optional<std::string>> {};
template <>
struct TypesOf<Delivery> : TypesOf<std::optional<bool>> {};
template <>
struct TypesOf<RankList> : TypesOf<std::optional<std::vector<int>>> {};
template <>
struct TypesOf<std::vector<std::optional<int>>> : TypesOf<RankList> {};
template <>
struct TypesOf<std::optional<VariableValue>> {
  static Types types() { return {"number", "string", "array", "null"}; }
};

/// What the schema allows for documents of other versions, and this version does not write.
const std::vector<std::pair<std::string, Types>> of_other_versions = {
    {"rank_source", {"\"position\""}},
    {"send.reason", {"\"mpi_finalized\"", "\"mpi_not_initialized\""}},
    {"receive.reason", {"\"mpi_finalized\"", "\"mpi_not_initialized\""}},
    {"unexpected.reason", {"\"mpi_finalized\"", "\"mpi_not_initialized\""}},
    {"operations.raw", {"null"}},
    {"operations.site", {"null"}},
    {"under_way.site", {"null"}},
    {"recorded", {"null"}},
    {"joined", {"null"}},
    {"members.job_id", {"null"}},
    {"members.rank", {"null"}},
    {"remote_members.job_id", {"null"}},
    {"remote_members.rank", {"null"}},
};

/// Where one side takes any text.
void take_words_as_texts(Types& types) {
  if (std::erase_if(types, [](const auto& type) { return type.starts_with('"'); }) != 0)
    types.insert("string");
}

/// What `describe` says, held against an object of the schema.
class SchemaMembers {
public:
  SchemaMembers(const json& schema, const json& object, std::string place,
                std::vector<std::string>& faults)
      : schema_(schema), object_(object), place_(std::move(place)), faults_(faults) {}

  /// All members of a value, and no others.
  template <class T>
  void check(T value = T()) {
    describe(*this, value);
    const json properties = resolved(object_).value("properties", json::object());
    for (const auto& [key, property] : properties.items())
      if (!seen_.contains(key))
        faults_.push_back(place_ + key + " is not described");
  }

  template <class T, class... Form>
  void member(std::string_view key, const T& /*value*/, Form... /*form*/) {
    compare(key, TypesOf<T>::types());
  }
  template <Worded E>
  void member(std::string_view key, const std::vector<E>& /*words*/) {
    compare(key, {"array"});
    compare(place_ + std::string(key) + "[]", types_of(element(key)), TypesOf<E>::types());
  }
  void member(std::string_view key, const RepairList& /*repairs*/) {
    member(key, std::vector<Repair>());
  }
  template <class T>
  void member(std::string_view key, const T& /*value*/, OrNull /*form*/) {
    compare(key, or_nothing(TypesOf<T>::types()));
  }
  void member(std::string_view key, const std::string& /*text*/, OfWholeJob /*form*/) {
    compare(key, {"string", "null"});
  }
  void member(std::string_view key, const bool& /*flag*/, TrueOrNull /*form*/) {
    compare(key, {"boolean", "null"});
  }
  template <class T>
  void member(std::string_view key, const T& value, AsAddress /*form*/) {
    compare(key, address_types(value));
  }
  template <class T>
  void member(std::string_view key, const T& /*value*/, AsText /*form*/) {
    compare(key, {"string"});
  }
  void member(std::string_view key, const int& /*size*/, PointerSize /*form*/) {
    compare(key, {"4", "8"});
  }
  void member(std::string_view key, const ChunkedList<Operation>& /*operations*/) {
    compare(key, {"array"});
    inner<Operation>(key, element(key));
  }
  void member(std::string_view key, const Operation& /*operation*/, RawValues /*form*/) {
    compare(key, {"object"});
  }
  void constant(std::string_view key, std::string_view /*text*/) { compare(key, {"string"}); }
  void null(std::string_view key) {
    seen_.insert(std::string(key));
    if (!types_of(property(key)).contains("null"))
      faults_.push_back(place_ + std::string(key) + " may not be null");
  }

  template <class T>
  void object(std::string_view key, const T& value, JsonWriter::Layout /*layout*/ = own_lines) {
    compare(key, may_be_none<T> ? or_nothing({"object"}) : Types{"object"});
    inner<T>(key, property(key), value);
  }
  template <class T>
  void object(std::string_view key, const std::optional<T>& /*value*/,
              JsonWriter::Layout /*layout*/ = own_lines) {
    compare(key, {"object", "null"});
    inner<T>(key, property(key));
  }
  template <class T>
  void part(std::string_view key, const std::optional<T>& value) {
    never_null_ = true;
    object(key, value);
  }
  void members(const SharedSite& /*site*/) {
    CallSite site;
    describe(*this, site);
  }
  template <class T>
  void list(std::string_view key, const std::vector<T>& /*values*/,
            JsonWriter::Layout /*each*/ = own_lines) {
    compare(key, {"array"});
    inner<T>(key, element(key));
  }
  template <class T>
  void list(std::string_view key, const std::optional<std::vector<T>>& /*values*/,
            JsonWriter::Layout /*each*/ = own_lines) {
    compare(key, {"array", "null"});
    inner<T>(key, element(key));
  }
  template <class T>
  void by_name(std::string_view key, const std::map<std::string, T>& /*values*/) {
    compare(key, {"object", "null"});
    inner<T>(key, resolved(property(key)).value("additionalProperties", json::object()));
  }
  template <class T>
  void list_or_null(std::string_view key, const std::vector<T>& /*values*/) {
    compare(key, {"array", "null"});
    inner<T>(key, element(key));
  }
  template <class T>
  void list_or_absent(std::string_view key, const std::vector<T>& values, JsonWriter::Layout each) {
    list(key, values, each);
  }

  bool has(bool /*condition*/) const { return true; }
  bool has_statistics() const { return true; }
  template <class Put>
  void put(const Put& /*back*/) {}
  template <class Rest>
  void afterwards(const Rest& rest) {
    rest();
  }

private:
  template <class T>
  static Types address_types(const T& /*value*/) {
    return {"string"};
  }
  static Types address_types(const std::optional<std::uint64_t>& /*value*/) {
    return {"string", "null"};
  }
  static Types address_types(const std::vector<std::uint64_t>& /*value*/) { return {"array"}; }
  static Types address_types(const std::optional<std::vector<std::uint64_t>>& /*value*/) {
    return {"array", "null"};
  }

  const json& referred(const json& node) const {
    return schema_.at(json::json_pointer(node["$ref"].get<std::string>().substr(1)));
  }
  /// What a reference stands for; of null and another kind of values the other one.
  const json& resolved(const json& node) const {
    if (node.contains("$ref"))
      return resolved(referred(node));
    return node.contains("anyOf") ? resolved(node["anyOf"].back()) : node;
  }

  Types types_of(const json& node) const {
    Types types;
    if (node.contains("$ref"))
      return types_of(referred(node));
    if (node.contains("anyOf"))
      for (const json& kind : node["anyOf"])
        types.merge(types_of(kind));
    if (node.contains("enum"))
      for (const json& word : node["enum"])
        types.insert(word.dump());
    else if (node.contains("type") && node["type"].is_array())
      types.merge(node["type"].get<Types>());
    else if (node.contains("type"))
      types.insert(node["type"].get<std::string>());
    return types;
  }

  json property(std::string_view key) const {
    const json& object = resolved(object_);
    const json others = object.value("additionalProperties", json::object());
    return object.value(json::json_pointer("/properties/" + std::string(key)), others);
  }
  json element(std::string_view key) const {
    return resolved(property(key)).value("items", json::object());
  }

  void compare(std::string_view key, Types described) {
    seen_.insert(std::string(key));
    if (std::exchange(never_null_, false))
      described.erase("null");
    compare(place_ + std::string(key), types_of(property(key)), std::move(described));
  }
  void compare(const std::string& place, Types types, Types described) {
    for (const auto& [name, more] : of_other_versions)
      if (("." + place).ends_with("." + name))
        for (const auto& type : more)
          if (types.erase(type) == 0)
            faults_.push_back(place + " is not " + type + " in the schema");
    if (types.contains("string") || described.contains("string")) {
      take_words_as_texts(types);
      take_words_as_texts(described);
    }
    if (types != described)
      faults_.push_back(place + ": " + testing::PrintToString(types) + " is described as " +
                        testing::PrintToString(described));
  }
  template <class T>
  void inner(std::string_view key, const json& object, const T& value = T()) {
    SchemaMembers(schema_, object, place_ + std::string(key) + ".", faults_).check(value);
  }

  const json& schema_;
  const json object_;
  std::string place_;
  std::vector<std::string>& faults_;
  std::set<std::string> seen_;
  bool never_null_ = false; ///< the next one: it is absent instead
};

TEST(Members, AreThoseOfTheSchema) {
  const json schema = read_json(MQBRIDGE_SCHEMA);
  std::vector<std::string> faults;
  SchemaMembers(schema, schema["$defs"]["rank"], "", faults).check<RankDump>();
  SchemaMembers(schema, schema["$defs"]["analysis"], "", faults).check<Analysis>();
  for (const auto& fault : faults)
    ADD_FAILURE() << fault;
}

} // namespace
} // namespace mqbridge::test
