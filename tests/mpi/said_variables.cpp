#include "tests/mpi/said_variables.h"

#include "tests/support/lost_variables.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace mqbridge::test {

using nlohmann::json;

namespace {

template <class Enum>
json position(const std::optional<Enum>& value) {
  return value ? json(static_cast<int>(*value)) : json();
}

json enumeration_of(const Variable& variable, const ProcessVariables& all) {
  if (!variable.enumeration)
    return {};
  const auto& enumeration = all.enumerations[*variable.enumeration];
  json items = json::array();
  for (const auto& [value, name] : enumeration.items)
    items.push_back({{"value", value}, {"name", name}});
  return {{"name", enumeration.name}, {"items", items}};
}

/// Names of the variables and categories that each category holds, by its name.
json members(const ProcessVariables& all) {
  json made = json::object();
  for (const auto& category : all.categories)
    made[category.name] = {{"description", category.description},
                           {"control", json::array()},
                           {"performance", json::array()},
                           {"categories", json::array()}};
  for (const auto& variable : all.variables)
    for (const auto index : variable.categories)
      made[all.categories[index].name]
          [variable.kind == VariableKind::control ? "control" : "performance"]
              .push_back(variable.name);
  for (const auto& category : all.categories)
    for (const auto parent : category.parents)
      made[all.categories[parent].name]["categories"].push_back(category.name);
  return made;
}

json names_of(const json& indexes, const json& listed) {
  json names = json::array();
  for (const auto& index : indexes)
    for (const auto& each : listed)
      if (each["index"] == index)
        names.push_back(each["name"]);
  return names;
}

json members(const json& said) {
  json made = json::object();
  for (const auto& category : said["categories"]) {
    auto& entry = made[category["name"].get<std::string>()];
    entry = {{"description", category["description"]}};
    for (const auto* kind : {"control", "performance", "categories"})
      entry[kind] = names_of(category[kind], said[kind]);
  }
  return made;
}

} // namespace

json said_by(const std::filesystem::path& directory) {
  std::ifstream file(directory / "variables.0");
  return json::parse(file);
}

json value_of(const Variable& variable) {
  if (variable.readings.size() != 1 || !variable.readings[0].value)
    return {};
  return std::visit([](const auto& value) { return json(value); }, *variable.readings[0].value);
}

json shown(const Variable& variable, const ProcessVariables& all) {
  json made = {{"name", variable.name},
               {"description", variable.description},
               {"verbosity", position(variable.verbosity)},
               {"binding", position(variable.binding)},
               {"datatype", variable.datatype},
               {"enumeration", enumeration_of(variable, all)}};
  if (variable.kind == VariableKind::control) {
    made["scope"] = position(variable.scope);
    made["value"] = value_of(variable);
  } else {
    made["class"] = position(variable.pvar_class);
    made["readonly"] = int{*variable.readonly};
    made["continuous"] = int{*variable.continuous};
    made["atomic"] = int{*variable.atomic};
  }
  return made;
}

void expect_said(const ProcessVariables& all, const json& said) {
  std::vector<json> ours;
  for (const auto& variable : all.variables)
    ours.push_back(shown(variable, all));
  std::vector<json> theirs;
  for (const auto* kind : {"control", "performance"})
    for (auto each : said[kind]) {
      each.erase("index");
      theirs.push_back(each);
    }
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    // MPI_T has no value of a text that is a version.
    if (theirs[i].contains("value") && theirs[i]["value"].is_null())
      ours[i]["value"] = nullptr;
    // What lies there changes; read_rank_variables() shows nothing of it.
    if (test::is_lost_variable(std::string(theirs[i]["name"])))
      ours[i]["value"] = theirs[i]["value"];
    EXPECT_EQ(ours[i], theirs[i]);
  }
  EXPECT_EQ(members(all), members(said));
}

std::set<std::string> samples_said_by(const std::filesystem::path& directory) {
  std::ifstream in(directory / "samples.0");
  std::set<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.insert(line);
  return lines;
}

std::set<std::string> samples_of(const ProcessVariables& all,
                                 const std::vector<std::string>& names) {
  std::set<std::string> lines;
  for (const auto& variable : all.variables) {
    if (std::ranges::find(names, variable.name) == names.end())
      continue;
    for (const auto& reading : variable.readings) {
      if (reading.object != "MPI_COMM_WORLD" && reading.object != "own")
        continue;
      std::string line = fmt::format("{} {}", variable.name, reading.object);
      if (!reading.value)
        line += " " + reading.reason;
      else
        for (const auto value : std::get<std::vector<std::uint64_t>>(*reading.value))
          line += fmt::format(" {}", value);
      lines.insert(line);
    }
  }
  return lines;
}

} // namespace mqbridge::test
