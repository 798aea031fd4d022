// A call whose arguments the program says before it ends there.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
#define OPAQUE __attribute__((noinline, optnone))
#else
#define OPAQUE __attribute__((noipa))
#endif
#define NOT_INLINED __attribute__((noinline))
/// Has all the arguments that its source has, and is optimized.
#if defined(__clang__)
#define WHOLE __attribute__((noinline))
#else
#define WHOLE __attribute__((noipa))
#endif

/// Says its arguments behind their places; of the sixth what it points to.
OPAQUE void target(void* buffer, int count, int type, int peer, int tag, long communicator,
                   const int* status, int eighth) {
  (void)buffer;
  printf("1 %d 2 %d 3 %d 4 %d 5 %ld 6 %d 7 %d\n", count, type, peer, tag, communicator,
         status != NULL ? *status : 0, eighth);
  fflush(stdout);
  raise(SIGABRT);
  // A call that is the last thing would be a jump.
  __asm__ volatile("" ::: "memory");
}

/// What the compiler cannot know.
OPAQUE int number(int value) {
  return value;
}

static int data = 7;

NOT_INLINED static void constants(void) {
  target(&data, 1, 0x4c000405, 3, 17, 0x44000000, &data, 8);
  __asm__ volatile("" ::: "memory");
}

/// Keeps them over the call, since it uses them behind it.
NOT_INLINED static int kept(int peer, int tag) {
  const int next = number(peer + 1);
  target(&data, next, 2, peer, tag, 5, NULL, 6);
  return number(next) + number(peer) + number(tag);
}

/// Its own arguments, which it does not keep.
NOT_INLINED static int handed_on(int peer, int tag) {
  const int own = number(1);
  target(&data, own, 2, peer, tag, 5, NULL, 6);
  return number(own);
}

/// Nobody may take these for the arguments of target().
WHOLE void jumps(void* buffer, int count, int type, int peer, int tag, long comm, const int* status,
                 int eighth) {
  target(buffer, count, type, peer + 100, tag + 100, comm + 100, status, eighth);
}

NOT_INLINED static void by_reference(void) {
  int status = number(1234);
  target(&data, 1, 2, 3, 4, 5, &status, status);
  number(status);
}

typedef void Target(void*, int, int, int, int, long, const int*, int);
NOT_INLINED static void by_pointer(void) {
  Target* volatile pointer = target;
  pointer(&data, 1, 2, 3, 4, 5, NULL, 6);
  __asm__ volatile("" ::: "memory");
}

int main(int count, char** arguments) {
  const char* kind = count > 1 ? arguments[1] : "";
  const int two = number(2);
  if (strcmp(kind, "constants") == 0)
    constants();
  if (strcmp(kind, "kept") == 0)
    return kept(number(41), number(42));
  if (strcmp(kind, "handed_on") == 0)
    return handed_on(31, two) + two;
  if (strcmp(kind, "jumps") == 0)
    jumps(&data, 1, 2, 3, 4, 5, NULL, 6);
  if (strcmp(kind, "by_reference") == 0)
    by_reference();
  if (strcmp(kind, "by_pointer") == 0)
    by_pointer();
  return number(two);
}
