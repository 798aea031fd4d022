// A stack through many libraries, copies of this file compiled with -DLIBRARY: the argument is
// their directory, where they are named 0.so, 1.so and so on. Ends in a core.

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>

typedef void Hop(void* const* next);

#ifdef LIBRARY
void hop(void* const* next) {
  if (*next == NULL)
    raise(SIGABRT);
  else
    ((Hop*)*next)(next + 1);
  __asm__ volatile("" ::: "memory"); // the call is not the last thing that it does
}
#else
int main(int argc, char** arguments) {
  static void* hops[1000];
  void* library = NULL;
  int count = 0;
  do {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.so", arguments[argc - 1], count);
    library = dlopen(path, RTLD_NOW);
    hops[count] = library != NULL ? dlsym(library, "hop") : NULL;
  } while (hops[count] != NULL && ++count < 999);
  if (count > 0)
    ((Hop*)hops[0])(hops + 1);
  return 1;
}
#endif
