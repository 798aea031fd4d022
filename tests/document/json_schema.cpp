#include "tests/document/json_schema.h"

#include <fstream>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace mqbridge::test {
namespace {

using nlohmann::json;

/// What valijson turns into constraints.
bool is_checked(const std::string& word) {
  static const std::set<std::string> words = {
      "$schema",     "$defs",    "$ref",     "title",
      "description", "type",     "required", "properties",
      "items",       "anyOf",    "const",    "enum",
      "pattern",     "minItems", "maxItems", "additionalProperties",
      "allOf"};
  return words.contains(word);
}

void find_unchecked(const json& schema, std::vector<std::string>& found) {
  if (!schema.is_object())
    return;
  for (const auto& [word, value] : schema.items()) {
    if (!is_checked(word))
      found.push_back(word);
    if (word == "properties" || word == "$defs")
      for (const auto& [name, member] : value.items())
        find_unchecked(member, found);
    else if (word == "anyOf" || word == "allOf")
      for (const json& choice : value)
        find_unchecked(choice, found);
    else if (word == "items" || word == "additionalProperties")
      find_unchecked(value, found);
  }
}

} // namespace

json read_json(const char* path) {
  std::ifstream file(path);
  return json::parse(file);
}

JsonSchema::JsonSchema(const json& text) {
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema_);
}

std::string JsonSchema::complaint(const json& document) {
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(document), &results))
    return {};
  valijson::ValidationResults::Error error;
  std::string text = "invalid";
  while (results.popError(error)) {
    text += "; ";
    for (const std::string& part : error.context)
      text += part;
    text += ": " + error.description;
  }
  return text;
}

std::vector<std::string> unchecked_words(const json& schema) {
  std::vector<std::string> found;
  find_unchecked(schema, found);
  return found;
}

} // namespace mqbridge::test
