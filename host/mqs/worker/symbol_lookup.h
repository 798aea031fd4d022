#pragma once

#include <dlfcn.h>
#include <string>

namespace mqbridge::worker {

/// Looks symbols of a library up, and collects those that should be there and are not.
class SymbolLookup {
public:
  explicit SymbolLookup(void* library) : library_(library) {}

  /// A function, or the address of a variable; null: it is not there.
  template <class Entry>
  void optional(const char* name, Entry& entry) {
    entry = reinterpret_cast<Entry>(::dlsym(library_, name));
  }
  template <class Entry>
  void required(const char* name, Entry& entry) {
    optional(name, entry);
    if (entry == nullptr)
      lacks(name);
  }
  void lacks(const char* name) {
    if (!missing.empty())
      missing += ", ";
    missing += name;
  }

  std::string missing;

private:
  void* library_;
};

} // namespace mqbridge::worker
