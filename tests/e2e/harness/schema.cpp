#include "tests/e2e/harness/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace mqbridge::e2e {

using nlohmann::json;

std::string schema_violation(const json& document) {
  valijson::Schema schema;
  valijson::SchemaParser parser;
  const json text = json::parse(std::ifstream(MQBRIDGE_SCHEMA));
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results))
    return "";
  valijson::ValidationResults::Error error;
  results.popError(error);
  return fmt::format("{}: {}", fmt::join(error.context, ""), error.description);
}

} // namespace mqbridge::e2e
