/* Prints what the compiler made of every field, from a program of the platform itself: type, field,
 * size of the type, offset and size of the field, a line each. */
#include <stdio.h>

extern const unsigned long long expected_layouts[][3];

static const char* const names[][2] = {
#define FIELD(type, field) {#type, #field},
#include "layouts.def"
};

int main(void) {
  for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); ++i)
    printf("%s|%s|%llu|%llu|%llu\n", names[i][0], names[i][1], expected_layouts[i][0],
           expected_layouts[i][1], expected_layouts[i][2]);
  return 0;
}
