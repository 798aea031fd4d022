/* What never comes to an end. */

#include "tests/mqs/hostile/hostile.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile long turns;

static void loop(void) {
  for (;;)
    ++turns;
}

static void sleep_for_ever(void) {
  const struct timespec year = {365 * 86400, 0};
  for (;;)
    nanosleep(&year, NULL);
}

static void loop_in_callbacks(void) {
  for (;;)
    now.host->mqs_get_image_info_fp(now.image);
}

static void fetch_for_ever(void) {
  char byte;
  for (mqs_taddr_t at = 0x1000;; at += 0x1000)
    now.process_host->mqs_fetch_data_fp(now.process, at, 1, &byte);
}

static void ask_for_symbols_for_ever(void) {
  char name[32];
  mqs_taddr_t at;
  for (;;) {
    snprintf(name, sizeof name, "symbol_%ld", turns++);
    now.image_host->mqs_find_symbol_fp(now.image, name, &at);
  }
}

static void ask_for_types_for_ever(void) {
  char name[32];
  for (;;) {
    snprintf(name, sizeof name, "type_%ld", turns++);
    now.image_host->mqs_find_type_fp(now.image, name, mqs_lang_c);
  }
}

/* A good DLL gives up when there is no more. */
static void allocate_until_none_is_left(void) {
  for (;;) {
    void* room = now.host->mqs_malloc_fp(1 << 20);
    if (room == NULL)
      return;
    memset(room, 1, 1 << 20);
  }
}

static void allocate_and_never_look(void) {
  for (;;)
    memset(malloc(1 << 20), 1, 1 << 20);
}

static void map_for_ever(void) {
  for (;;) {
    char* room = mmap(NULL, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
      abort();
    memset(room, 1, 1 << 24);
  }
}

static void ask_for_more_than_there_is(void) {
  if (now.host->mqs_malloc_fp((size_t)-1) != NULL || now.host->mqs_malloc_fp((size_t)1 << 62))
    abort();
}

static void leak(void) {
  for (int i = 0; i < 1000; ++i)
    memset(now.host->mqs_malloc_fp(1000), 1, 1000);
}

static void write_lines_for_ever(void) {
  static const char line[] = "the same line again\n";
  for (;;)
    turns += write(1, line, sizeof line - 1);
}

static void write_one_line_for_ever(void) {
  char piece[65536];
  memset(piece, 'x', sizeof piece);
  for (;;)
    turns += write(1, piece, sizeof piece);
}

static void write_rubbish_for_ever(void) {
  unsigned char piece[65536];
  for (size_t i = 0; i < sizeof piece; ++i)
    piece[i] = (unsigned char)(i * 37 + i / 256);
  for (;;)
    turns += write(2, piece, sizeof piece);
}

static void print_for_ever(void) {
  for (;;)
    now.host->mqs_dprints_fp("again and again");
}

static void print_an_endless_text(void) {
  const size_t size = 1 << 20;
  char* text = malloc(size);
  memset(text, 'm', size - 1);
  text[size - 1] = '\0';
  now.host->mqs_dprints_fp(text);
}

static void list_communicators_for_ever(void) {
  never_ends_communicators = 1;
}

static void list_operations_for_ever(void) {
  never_ends_operations = 1;
}

const struct evil endless[] = {
    {"loop", loop},
    {"sleep_for_ever", sleep_for_ever},
    {"loop_in_callbacks", loop_in_callbacks},
    {"fetch_for_ever", fetch_for_ever},
    {"ask_for_symbols_for_ever", ask_for_symbols_for_ever},
    {"ask_for_types_for_ever", ask_for_types_for_ever},
    {"allocate_until_none_is_left", allocate_until_none_is_left},
    {"allocate_and_never_look", allocate_and_never_look},
    {"map_for_ever", map_for_ever},
    {"ask_for_more_than_there_is", ask_for_more_than_there_is},
    {"leak", leak},
    {"write_lines_for_ever", write_lines_for_ever},
    {"write_one_line_for_ever", write_one_line_for_ever},
    {"write_rubbish_for_ever", write_rubbish_for_ever},
    {"print_for_ever", print_for_ever},
    {"print_an_endless_text", print_an_endless_text},
    {"list_communicators_for_ever", list_communicators_for_ever},
    {"list_operations_for_ever", list_operations_for_ever},
    {NULL, NULL},
};
