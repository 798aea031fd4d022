/* A debug DLL that does one evil thing at one place; which, stands in `plan`, into which the tests
 * write (hostile_dll.h). Until then, and after an evil that does no harm, it is a good one: two
 * communicators, "first" and "second", each with three pending receives of tags 0, 1 and 2. The
 * first is always complete; the evil comes in the second. */

#ifndef MQBRIDGE_TESTS_HOSTILE_H
#define MQBRIDGE_TESTS_HOSTILE_H

#include "dll/mqs_interface.h"

/* What the function that is misbehaving was given, and what it is about to answer. */
struct situation {
  const mqs_basic_callbacks* host;
  const mqs_image_callbacks* image_host;
  const mqs_process_callbacks* process_host;
  mqs_image* image;
  mqs_process* process;
  mqs_communicator* communicator;
  mqs_pending_operation* operation;
  int* ranks;
  char** message;
  int code;   /* where the function returns one */
  char* text; /* where it returns a text */
};
extern struct situation now;

struct evil {
  const char* name;
  void (*act)(void);
};

/* Each ends with a NULL name. */
extern const struct evil crashes[], endless[], answers[], callbacks[], processes[], exceptions[];

/* Set by an evil that goes on in later functions. */
extern int never_ends_communicators, never_ends_operations, destructor_loops;

#endif
