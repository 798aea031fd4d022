// Functions without a symbol, once the program is stripped of all but what it exports, to which
// others do nothing but jump, as those of MPICH do. Ends in a core.

#include <signal.h>

#if defined(__x86_64__)
#define JUMP "jmp "
#elif defined(__aarch64__)
#define JUMP "b "
#elif defined(__s390x__)
#define JUMP "jg "
#endif

/// NAME, which is exported, jumps to GOAL. From another section than .text the jump is a long one.
#define JUMPS(NAME, GOAL, SECTION)                                                                 \
  void NAME(void);                                                                                 \
  __asm__(".pushsection " SECTION ",\"ax\",%progbits\n.globl " #NAME "\n.type " #NAME              \
          ", %function\n" #NAME ": " JUMP #GOAL "\n.size " #NAME ", . - " #NAME "\n.popsection\n")
/// Keeps a call from being the last thing that its function does.
#define AFTER_CALL() __asm__ volatile("" ::: "memory")
#define WITHOUT_SYMBOL __attribute__((used, noinline, noclone)) static void

JUMPS(PMPI_Named, named, ".text.jumps");
JUMPS(MPI_Named, named, ".text");
JUMPS(one, of_two_names, ".text.jumps");
JUMPS(other, of_two_names, ".text.jumps");
JUMPS(far_alone, reached_from_far, ".text.jumps");
JUMPS(near_alone, reached_from_near, ".text");

WITHOUT_SYMBOL of_two_names(void) {
  raise(SIGABRT);
  AFTER_CALL();
}

WITHOUT_SYMBOL reached_from_near(void) {
  one();
  AFTER_CALL();
}

WITHOUT_SYMBOL reached_from_far(void) {
  near_alone();
  AFTER_CALL();
}

WITHOUT_SYMBOL named(void) {
  far_alone();
  AFTER_CALL();
}

int main(void) {
  MPI_Named();
  AFTER_CALL();
  return 0;
}
