/* A shared object that is no debug DLL: one of the entry points, and no more. */

#include "dll/mqs_interface.h"

char* mqs_version_string(void) {
  static char text[] = "a debug DLL that is not whole";
  return text;
}
