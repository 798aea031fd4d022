/* Has the table of a launcher that has started three ranks, as the MPIR interface has it, from its
   entry on; then sleeps. */
#include <unistd.h>

struct entry {
  const char* host_name;
  const char* executable_name;
  int pid;
};

static struct entry table[] = {
    {"localhost", "/opt/solver", 4001},
    {"n17", "/opt/solver", 4002},
    {"n17", "/opt/a rather long path of a program that does something else/and more", 2147483647},
};

struct entry* MPIR_proctable = table;
int MPIR_proctable_size = sizeof table / sizeof *table;

int main(void) {
  sleep(60);
  return 0;
}
