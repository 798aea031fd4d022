// What the recorder's core needs of a C library, on a machine that has none: memory that is never
// given back, and what one thread alone needs. Linked in front of nothing else.

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { heap_bytes = 256 * 1024, alignment = 16 };

static _Alignas(alignment) unsigned char heap[heap_bytes];
static size_t used;

static void* take(size_t size) {
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (rounded > heap_bytes - used)
    return NULL;
  void* const taken = heap + used;
  used += rounded;
  return taken;
}

// Compilers make calls to these of their own accord; loops that they would recognise must not call
// themselves.
#define KEEP_LOOPS __attribute__((optimize("no-tree-loop-distribute-patterns")))

KEEP_LOOPS void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  for (size_t i = 0; i < size; ++i)
    ((unsigned char*)to)[i] = ((const unsigned char*)from)[i];
  return to;
}

KEEP_LOOPS void* memset(void* to, int value, size_t size) {
  for (size_t i = 0; i < size; ++i)
    ((unsigned char*)to)[i] = (unsigned char)value;
  return to;
}

KEEP_LOOPS size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != '\0')
    ++length;
  return length;
}

KEEP_LOOPS size_t strnlen(const char* text, size_t limit) {
  size_t length = 0;
  while (length < limit && text[length] != '\0')
    ++length;
  return length;
}

void* malloc(size_t size) {
  return take(size);
}

void* calloc(size_t count, size_t size) {
  return take(count * size); // the heap starts as zeros, and nothing comes back
}

/// The recorder grows its lists from nothing, once.
void* realloc(void* block, size_t size) {
  return block == NULL ? take(size) : NULL;
}

void free(void* block) {
  (void)block;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  (void)address, (void)protection, (void)flags, (void)file, (void)offset;
  void* const taken = take(size);
  return taken != NULL ? taken : MAP_FAILED;
}

int munmap(void* address, size_t size) {
  (void)address, (void)size;
  return 0;
}

int pthread_mutex_lock(pthread_mutex_t* lock) {
  (void)lock;
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t* lock) {
  (void)lock;
  return 0;
}

int pthread_once(pthread_once_t* once, void (*initialize)(void)) {
  (void)once;
  initialize();
  return 0;
}

/// No thread ever ends.
int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  (void)key, (void)destructor;
  return 1;
}

int pthread_setspecific(pthread_key_t key, const void* value) {
  (void)key, (void)value;
  return 1;
}

/// The number of the only thread.
long syscall(long number, ...) {
  (void)number;
  return 1;
}
