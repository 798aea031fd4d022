#include "host/cli/arguments/config.h"

#include "host/disk/toml_file.h"
#include "host/mpi/mpi_support.h"

namespace mqbridge {
namespace {

class Reader {
public:
  explicit Reader(const std::filesystem::path& path) : faults_(path) {}

  Result<Config> read(const toml::table& root) {
    for (const auto& [key, value] : root) {
      if (key.str() != "dll")
        return faults_.unknown_key(key, "the only table is [dll]");
      const toml::table* dll = value.as_table();
      if (!dll)
        return faults_.wrong_value(value, "dll", "a table: [dll]");
      if (auto read = read_dll(*dll); !read)
        return forward(std::move(read));
    }
    return std::move(config_);
  }

private:
  Result<void> read_dll(const toml::table& dll) {
    for (const auto& [key, value] : dll) {
      Result<void> read;
      if (key.str() == "allowed_directories")
        read = read_directories(value);
      else
        read = read_dll_path(key, value);
      if (!read)
        return read;
    }
    return {};
  }

  Result<void> read_directories(const toml::node& value) {
    const toml::array* list = value.as_array();
    if (!list)
      return faults_.wrong_value(value, "allowed_directories", "a list of absolute paths");
    for (const toml::node& item : *list) {
      const auto path = absolute_path(item);
      if (!path)
        return faults_.wrong_value(item, "allowed_directories", "a list of absolute paths");
      config_.allowed_directories.push_back(*path);
    }
    return {};
  }

  /// "openmpi" or "openmpi 4.1.4".
  Result<void> read_dll_path(const toml::key& key, const toml::node& value) {
    const std::string_view name = key.str();
    const std::string_view mpi = name.substr(0, name.find(' '));
    if (support_of(mpi).facts().provider != mpi)
      return faults_.unknown_key(
          key, "[dll] has allowed_directories, and an MPI with or without its version:"
               " openmpi = \"...\", \"openmpi 4.1.4\" = \"...\"");
    const auto path = absolute_path(value);
    if (!path)
      return faults_.wrong_value(value, name, "the absolute path of a debug DLL");
    config_.dlls[std::string(name)] = *path;
    return {};
  }

  static std::optional<std::filesystem::path> absolute_path(const toml::node& value) {
    const auto* text = value.as_string();
    if (!text || !std::filesystem::path(text->get()).is_absolute())
      return std::nullopt;
    return std::filesystem::path(text->get());
  }

  TomlFaults faults_;
  Config config_;
};

} // namespace

Result<Config> read_config(const std::filesystem::path& path) {
  const auto root = read_toml(path, "[dll] and below it openmpi = \"/path/of/the/dll\"");
  return root ? Reader(path).read(*root) : Result<Config>(Failure(root.error()));
}

} // namespace mqbridge
