#include "host/mqs/dll_dependences.h"

#include "host/elf/elf_reader.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <vector>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

/// The most libraries that are looked at; debug DLLs need a handful. With more, nothing is loaded.
constexpr std::size_t max_libraries = 64;

std::vector<std::string> split(std::string_view paths) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = paths.find(':');
    parts.emplace_back(paths.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    paths.remove_prefix(end + 1);
  }
}

/// ld.so's words for the directory of the object in which they stand.
constexpr std::array<std::string_view, 2> origin_tokens = {"${ORIGIN}", "$ORIGIN"};

std::string with_origin(std::string path, const fs::path& origin) {
  for (const std::string_view token : origin_tokens)
    for (auto at = path.find(token); at != std::string::npos;
         at = path.find(token, at + origin.native().size()))
      path.replace(at, token.size(), origin.native());
  return path;
}

class Dependences {
public:
  explicit Dependences(const PlaceJudge& judge) : judge_(judge) {}

  std::string why_changeable(const fs::path& dll) {
    add(dll);
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      if (i == max_libraries)
        return fmt::format("{} brings more than {} libraries", shown(dll), max_libraries);
      if (std::string why = look_at(fs::path(objects_[i])); !why.empty())
        return why;
    }
    return {};
  }

private:
  static std::string shown(const fs::path& path) { return printable(path.string()); }

  void add(const fs::path& object) {
    if (seen_.insert(object).second)
      objects_.push_back(object);
  }

  std::string look_at(const fs::path& object) {
    const auto reader = ElfReader::open(object);
    if (!reader)
      return {}; // no library: ld.so goes on to the next place
    const auto dynamic = reader->dynamic();
    if (!dynamic)
      return printable(dynamic.error().message);
    std::vector<fs::path> places;
    for (const auto& paths : dynamic->search_paths)
      for (const auto& place : paths.empty() ? std::vector<std::string>() : split(paths)) {
        places.emplace_back(with_origin(place, object.parent_path()));
        if (std::string why = judge(object, "searches", places.back()); !why.empty())
          return why;
      }
    for (const auto& name : dynamic->needed)
      if (std::string why = needs(object, name, places); !why.empty())
        return why;
    return {};
  }

  std::string needs(const fs::path& object, const std::string& name,
                    const std::vector<fs::path>& places) {
    if (name.find('/') != std::string::npos) {
      const fs::path path = with_origin(name, object.parent_path());
      std::string why = judge(object, "needs", path);
      if (why.empty())
        add_existing(path);
      return why;
    }
    for (const auto& place : places)
      if (std::error_code error; fs::exists(place / name, error)) {
        std::string why = judge(object, "needs", place / name);
        if (why.empty())
          add_existing(place / name);
        return why;
      }
    return {};
  }

  void add_existing(const fs::path& path) {
    std::error_code error;
    if (fs::path real = fs::canonical(path, error); !error)
      add(real);
  }

  std::string judge(const fs::path& object, std::string_view verb, const fs::path& place) {
    std::string why;
    if (place.native().find('$') != std::string::npos)
      why = "which only ld.so can tell where it is";
    else if (!place.is_absolute())
      why = "which depends on the working directory";
    else if (why = judge_(place); !why.empty())
      why = "and " + why;
    return why.empty() ? why
                       : fmt::format("{} {} {}, {}", shown(object), verb,
                                     place.empty() ? "\"\"" : shown(place), why);
  }

  const PlaceJudge& judge_;
  std::vector<fs::path> objects_;
  std::set<fs::path> seen_;
};

} // namespace

std::string why_dependences_changeable(const fs::path& dll, const PlaceJudge& judge) {
  return Dependences(judge).why_changeable(dll);
}

bool uses_origin(const fs::path& dll) {
  const auto reader = ElfReader::open(dll);
  const auto dynamic = reader ? reader->dynamic() : Result<ElfDynamic>(ElfDynamic());
  const auto has_token = [](const std::string& text) {
    return std::ranges::any_of(origin_tokens,
                               [&](auto token) { return text.find(token) != std::string::npos; });
  };
  return dynamic && (std::ranges::any_of(dynamic->search_paths, has_token) ||
                     std::ranges::any_of(dynamic->needed, has_token));
}

} // namespace mqbridge
