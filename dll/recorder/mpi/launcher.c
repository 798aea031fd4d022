#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "dll/recorder/mpi/launcher.h"

#include "dll/recorder/recorder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_ancestors = 16, most_bytes = 4096 };

/* Reads a file below /proc, and ends it with a NUL. Returns its length; 0: there is none. */
static size_t read_proc(long pid, const char* name, char* into) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  size_t length = 0;
  for (ssize_t got = 1; got > 0 && length<most_bytes; length += got> 0 ? (size_t)got : 0)
    got = read(file, into + length, most_bytes - length);
  close(file);
  into[length] = '\0';
  return length;
}

/* The parent of a process; 0: there is none, or it is not known. */
static long parent_of(long pid) {
  char text[most_bytes + 1];
  long parent = 0;
  const size_t length = read_proc(pid, "stat", text);
  const char* const name_end = length > 0 ? strrchr(text, ')') : NULL; /* a name may have more */
  if (name_end == NULL || sscanf(name_end, ") %*c %ld", &parent) != 1)
    return 0;
  return parent;
}

/* The word behind the word `name`, among words that each end with a 0. NULL: there is none. */
static const char* word_after(const char* words, size_t length, const char* name) {
  for (const char* word = words; word < words + length; word += strlen(word) + 1) {
    const char* const next = word + strlen(word) + 1;
    if (strcmp(word, name) == 0 && next < words + length)
      return next;
  }
  return NULL;
}

static char hydra[160];
static int hydra_group;

/* Finds the proxy's mpiexec. On another computer than mpiexec's the proxy is not its child. */
static void find_mpiexec(long proxy, const char* group) {
  char words[most_bytes + 1];
  char host[100];
  const long pid = parent_of(proxy);
  if (pid <= 1 || read_proc(pid, "cmdline", words) == 0 || gethostname(host, sizeof host) != 0)
    return;
  host[sizeof host - 1] = '\0';
  const char* const slash = strrchr(words, '/');
  const char* const name = slash != NULL ? slash + 1 : words;
  if (strncmp(name, "mpiexec", 7) != 0 && strncmp(name, "mpirun", 6) != 0)
    return;
  hydra_group = atoi(group);
  snprintf(hydra, sizeof hydra, "%s.%ld", host, pid);
}

const char* mqr_hydra(int* group) {
  *group = hydra_group;
  return hydra[0] != '\0' ? hydra : NULL;
}

/* Hydra starts the processes of a job by proxies. A proxy's command line says which group of
 * processes these are, and where mpiexec listens, on another port for each group. Between a proxy
 * and a process there may be shells and other tools. */
static void find_hydra(void) {
  char words[most_bytes + 1];
  char job[MQR_JOB_SIZE];
  long pid = getppid();
  for (int i = 0; i < most_ancestors && pid > 1; ++i, pid = parent_of(pid)) {
    const size_t length = read_proc(pid, "cmdline", words);
    const char* const port = word_after(words, length, "--control-port");
    const char* const group = word_after(words, length, "--pgid");
    if (port == NULL || group == NULL)
      continue;
    snprintf(job, sizeof job, "%.200s/%.40s", port, group);
    mqr_set_job(job);
    find_mpiexec(pid, group);
    return;
  }
}

void mqr_name_job(void) {
  const int is_of_hydra = getenv("PMI_FD") != NULL || getenv("PMI_PORT") != NULL;
  if (is_of_hydra && getenv("PMI_JOBID") == NULL)
    find_hydra();
}
