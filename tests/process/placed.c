// Says where it is itself, in memory and in kinds of code: what qemu_process.cpp compares with what
// was learnt from outside. Compiled for each platform in each way that executables are linked.

#include <math.h>
#include <signal.h>
#include <stdio.h>

int placed_marker = 0x12345678;

static void nothing(int number) {
  (void)number;
}

int main(int argc, char** argv) {
  (void)argv;
  signal(SIGUSR1, nothing);
  printf("marker %p libm %d\n", (void*)&placed_marker, (int)sqrt(argc * 4.0));
  fflush(stdout);
  raise(SIGUSR1);
  return 0;
}
