// What users write: targets, option values, the file of --config. The first byte chooses which.

#include "host/cli/arguments/config.h"
#include "host/cli/arguments/option_values.h"
#include "host/dump/take_dump.h"
#include "rsp/transport/endpoint.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/fuzz_input.h"

namespace mqbridge {
namespace {

using test::require;

/// Wrong usage always says what would be right.
template <class T>
void check(const Result<T>& result) {
  require(result || (!result.error().code.empty() && !result.error().message.empty() &&
                     !result.error().hint.empty()));
}

void target(std::string_view text) {
  check(TargetSpec::parse(text));
  if (const auto endpoint = rsp::Endpoint::parse(text)) {
    require(endpoint->text == text);
    require(!endpoint->pid || *endpoint->pid > 0);
  }
}

void values(std::string_view text) {
  const auto seconds = parse_seconds("--timeout", text);
  check(seconds);
  require(!seconds || seconds->count() > 0);
  check(parse_integer("--tag", text));
  const auto count = parse_count("--jobs", text);
  check(count);
  require(!count || *count > 0);
  check(parse_count_or_all("--show", text));
  check(parse_image("--image", text));
  check(parse_run_until("--run-until", text));
  check(parse_path_map("--path-map", text));
}

void configuration(std::string_view text) {
  static const test::FuzzFile file;
  file.replace(text);
  const auto config = read_config(file.path());
  check(config);
  if (!config)
    return;
  for (const auto& [mpi, path] : config->dlls)
    require(path.is_absolute());
  for (const auto& directory : config->allowed_directories)
    require(directory.is_absolute());
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  test::FuzzInput input(data, size);
  switch (input.number(1)) {
  case 't':
    target(input.rest());
    break;
  case 'c':
    configuration(input.rest());
    break;
  default:
    values(input.rest());
  }
  return 0;
}
