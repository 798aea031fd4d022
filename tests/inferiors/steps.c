// A program to be stepped through: the same in each run.
//   steps            walks its lists, and ends
//   steps stay [N]   counts for ever, in tick(), and calls add() N calls deep each time
//   steps crowd      has 64 threads that do nothing, each ten calls deep

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { nodes = 1000, node_size = 64 };

struct node {
  struct node* next;
  long number;
  char filling[node_size - sizeof(struct node*) - sizeof(long)];
};

struct pair {
  int left;
  int right;
  char name[16];
};

static struct node in_a_row[nodes];
struct node* row = NULL;
struct node* shuffled = NULL;
struct pair pairs[4] = {{1, 2, "one"}, {3, 4, "two"}, {5, 6, "three"}, {7, 8, "four"}};
volatile long ticks = 0;
__thread int own = 7;
volatile int sum = 0;

static void make_row(void) {
  for (int i = 0; i < nodes; ++i) {
    in_a_row[i].number = i;
    in_a_row[i].next = i + 1 < nodes ? &in_a_row[i + 1] : NULL;
  }
  row = in_a_row;
}

/// The nodes lie anywhere in one MiB, in another order than they follow each other.
static void make_shuffled(void) {
  enum { places = (1 << 20) / node_size };
  struct node* const area = calloc(places, node_size);
  unsigned place = 0;
  struct node** end = &shuffled;
  for (int i = 0; i < nodes; ++i) {
    place = (place + 7919) % places;
    area[place].number = i;
    *end = &area[place];
    end = &area[place].next;
  }
}

__attribute__((noinline)) void tick(void) {
  ++ticks;
}

__attribute__((noinline)) int add(const struct pair* pair) {
  const int both = pair->left + pair->right;
  sum += both;
  return both;
}

__attribute__((noinline)) int deeper(int depth) {
  if (depth == 0)
    return add(&pairs[0]);
  return deeper(depth - 1) + 1;
}

static void* work(void* argument) {
  for (int i = 0; i < 3; ++i)
    tick();
  return argument;
}

__attribute__((noinline)) static void do_nothing(int depth) {
  if (depth > 0)
    do_nothing(depth - 1);
  while (ticks == 0)
    pause();
}

static void* rest(void* argument) {
  do_nothing(10);
  return argument;
}

static void be_a_crowd(void) {
  enum { threads = 64 };
  pthread_t thread;
  for (int i = 1; i < threads; ++i)
    if (pthread_create(&thread, NULL, rest, NULL) != 0)
      return;
  rest(NULL);
}

int main(int argc, char** argv) {
  make_row();
  make_shuffled();
  if (argc > 1 && strcmp(argv[1], "stay") == 0)
    for (;;) {
      tick();
      if (argc > 2)
        deeper(atoi(argv[2]));
      usleep(1000);
    }
  if (argc > 1 && strcmp(argv[1], "crowd") == 0)
    be_a_crowd();
  int total = 0;
  for (int i = 0; i < 4; ++i) {
    total += add(&pairs[i]);
    tick();
  }
  total += deeper(5);
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
    return 1;
  for (int i = 0; i < 100; ++i) {
    tick();
    total += i;
  }
  // A breakpoint that a debugger leaves in the child ends it.
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    tick();
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    return 3;
  if (system("exit 0") != 0) // a vfork, and an exec
    return 4;
  printf("total %d, ticks %ld\n", total, ticks);
  return 0;
}
