/* The second unit: defines what the first only declares, and states what its compiler made of every
 * field. */
#include "layouts.h"

#include <stddef.h>

struct elsewhere {
  char skip[100];
  long found;
  int it;
};

elsewhere_t the_elsewhere;
nowhere_t* another_nowhere;

/* Size of the type, offset and size of the field. Read from the object's data: no program needs to
 * run. */
#define FIELD(type, field) {sizeof(type), offsetof(type, field), sizeof(((type*)0)->field)},
const unsigned long long expected_layouts[][3] = {
#include "layouts.def"
};
