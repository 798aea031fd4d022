// getaddrinfo(3) as with a slow name server: names that begin with "slow." are this machine's, and
// take SLOW_NAMES milliseconds. Numbers ask nobody. For LD_PRELOAD, and for linking into a test.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int get_addresses(const char*, const char*, const struct addrinfo*, struct addrinfo**);

int getaddrinfo(const char* node, const char* service, const struct addrinfo* hints,
                struct addrinfo** result) {
  get_addresses* real = NULL;
  void* const found = dlsym(RTLD_NEXT, "getaddrinfo");
  memcpy(&real, &found, sizeof real);
  const char* const setting = getenv("SLOW_NAMES");
  const int is_number = hints && (hints->ai_flags & AI_NUMERICHOST);
  if (!setting || is_number || !node || strncmp(node, "slow.", 5) != 0)
    return real(node, service, hints, result);
  const long milliseconds = atol(setting);
  const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
  return real("127.0.0.1", service, hints, result);
}
