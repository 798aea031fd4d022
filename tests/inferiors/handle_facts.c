#include "tests/inferiors/handle_facts.h"

#include "tests/inferiors/job_files.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static FILE* facts;

void facts_begin(const char* directory, int rank) {
  facts = job_open(directory, "handles", rank);
}

void facts_end(void) {
  fclose(facts);
}

unsigned long long handle_value(const void* handle, size_t size) {
  unsigned int number = 0;
  uintptr_t address = 0;
  if (size == sizeof number) {
    memcpy(&number, handle, sizeof number);
    return number;
  }
  memcpy(&address, handle, sizeof address);
  return address;
}

void fact(const char* kind, unsigned long long handle, const char* key, const char* format, ...) {
  va_list values;
  fprintf(facts, "%s 0x%llx %s ", kind, handle, key);
  va_start(values, format);
  vfprintf(facts, format, values);
  va_end(values);
  fputc('\n', facts);
}
