#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <valijson/schema.hpp>
#include <vector>

namespace mqbridge::test {

/// The document in a file.
nlohmann::json read_json(const char* path);

/// A JSON schema that documents are compared with.
class JsonSchema {
public:
  explicit JsonSchema(const nlohmann::json& text);

  /// Empty if the document is valid, else the complaints.
  std::string complaint(const nlohmann::json& document);

private:
  valijson::Schema schema_;
};

/// Words of a schema that the validator ignores without a word: a schema that used them would be
/// checked in part only.
std::vector<std::string> unchecked_words(const nlohmann::json& schema);

} // namespace mqbridge::test
