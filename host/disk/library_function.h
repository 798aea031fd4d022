#pragma once

#include <dlfcn.h>

namespace mqbridge {

/// The function of that name in a library that dlopen() has loaded. False: it has none.
template <class Function>
bool load_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

} // namespace mqbridge
