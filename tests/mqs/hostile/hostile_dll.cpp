#include "tests/mqs/hostile/hostile_dll.h"

#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace mqbridge::test {
namespace {

// The plan in skeleton.c.
constexpr std::string_view mark = "mqbridge-hostile-dll-plan";
constexpr std::size_t mark_room = 32;
constexpr std::size_t word_room = 48;

const std::string original = std::string(MQBRIDGE_TEST_DLLS) + "/hostile.so";

void put(std::string& bytes, std::size_t at, std::string word) {
  if (word.size() >= word_room)
    throw std::runtime_error("too long for the hostile DLL's plan: " + word);
  word.resize(word_room);
  bytes.replace(at, word_room, word);
}

} // namespace

std::filesystem::path make_hostile_dll(const std::filesystem::path& directory,
                                       const std::string& evil, const std::string& place) {
  std::ifstream from(original, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(from), {}};
  const auto plan = bytes.find(mark);
  if (plan == std::string::npos || bytes.size() < plan + mark_room + 2 * word_room)
    throw std::runtime_error(original + " has no plan");
  put(bytes, plan + mark_room, evil);
  put(bytes, plan + mark_room + word_room, place);
  auto path = directory / (evil + "-in-" + place + ".so");
  if (!(std::ofstream(path, std::ios::binary) << bytes))
    throw std::runtime_error("cannot write " + path.string());
  return path;
}

std::vector<std::string> all_evils() {
  void* library = ::dlopen(original.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw std::runtime_error(::dlerror());
  auto* name = reinterpret_cast<const char* (*)(int)>(::dlsym(library, "hostile_evil"));
  std::vector<std::string> names;
  for (int i = 0; name != nullptr && name(i) != nullptr; ++i)
    names.emplace_back(name(i));
  ::dlclose(library);
  return names;
}

} // namespace mqbridge::test
