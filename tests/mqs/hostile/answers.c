/* Lies, and more than there is room for. */

#include "tests/mqs/hostile/hostile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void code_minus_1(void) {
  now.code = -1;
}
static void code_57(void) { /* between the interface's own and the first of the user's */
  now.code = 57;
}
static void code_of_the_user(void) {
  now.code = mqs_first_user_code;
}
static void code_min(void) {
  now.code = INT_MIN;
}
static void code_max(void) {
  now.code = INT_MAX;
}

static void no_text(void) {
  now.text = NULL;
}
static void wild_text(void) {
  now.text = (char*)0x10;
}
static void text_without_an_end(void) {
  const size_t size = 1 << 20;
  now.text = malloc(size);
  memset(now.text, 'v', size - 1);
  now.text[size - 1] = '\0';
}
static void text_of_controls(void) {
  now.text = "\x1b[2J\x1b]0;owned\x07\r\n\xe2\x80\xae\xff\xfe%n%s%d";
}

static void message_of_directives(void) {
  *now.message = "%n%s%s%s%d%1000000d%*c %";
}
static void refuse_with_directives(void) {
  *now.message = "%n%s%s%s%d%1000000d%*c %";
  now.code = mqs_first_user_code;
}
static void wild_message(void) {
  *now.message = (char*)0x10;
}
static void print_directives(void) {
  now.host->mqs_dprints_fp("%n%s%1000000d");
  printf("%s", "%n%s%1000000d\n");
}

static void sized(mqs_tword_t size) {
  now.communicator->size = size;
}
static void size_minus_1(void) {
  sized(-1);
}
static void size_int_max(void) {
  sized(INT_MAX);
}
static void size_2_40(void) {
  sized((mqs_tword_t)1 << 40);
}
static void size_min(void) {
  sized(INT64_MIN);
}
static void size_max(void) {
  sized(INT64_MAX);
}
static void size_as_large_as_is_read(void) {
  sized((1 << 24) - 1);
}
static void rank_beyond_size(void) {
  now.communicator->local_rank = INT64_MAX;
}

static void name_without_an_end(void) {
  memset(now.communicator->name, 'n', sizeof now.communicator->name);
}
static void name_of_controls(void) {
  strcpy(now.communicator->name, "\x1b[2J\x07\r\n\xe2\x80\xae\xc0\x80\xff%n%s");
}
static void name_of_half_a_letter(void) {
  memset(now.communicator->name, 'n', sizeof now.communicator->name);
  now.communicator->name[sizeof now.communicator->name - 1] = '\xc3'; /* its second byte lacks */
}

static void beyond_the_communicator(void) {
  memset(now.communicator, 0x6e, sizeof *now.communicator + 1000);
}
static void beyond_the_group(void) {
  for (int i = 0; i < 1000; ++i)
    now.ranks[i] = 0x7f00 + i;
}
static void far_beyond_the_group(void) {
  memset(now.ranks, 0x7f, (size_t)1 << 24);
}
static void beyond_the_operation(void) {
  memset(now.operation, 0x6f, sizeof *now.operation + 1000);
}
static void far_beyond_the_communicator(void) {
  memset(now.communicator, 0x6e, (size_t)1 << 24);
}
static void far_beyond_the_operation(void) {
  memset(now.operation, 0x6f, (size_t)1 << 24);
}

static void text_lines_without_an_end(void) {
  memset(now.operation->extra_text, 't', sizeof now.operation->extra_text);
}
static void text_lines_of_controls(void) {
  for (int i = 0; i < MQS_EXTRA_LINES; ++i)
    strcpy(now.operation->extra_text[i], "\x1b[31m\xff\xfe%n%s\n\t\x07");
}
static void extreme_fields(void) {
  mqs_pending_operation* operation = now.operation;
  operation->status = INT_MAX;
  operation->desired_local_rank = operation->desired_global_rank = INT64_MIN;
  operation->tag_wild = INT_MIN;
  operation->desired_tag = operation->desired_length = INT64_MAX;
  operation->system_buffer = INT_MAX;
  operation->buffer = UINT64_MAX;
  operation->actual_local_rank = operation->actual_global_rank = INT64_MAX;
  operation->actual_tag = operation->actual_length = INT64_MIN;
}

/* The sizes of types: five ints (MQD 5.2.3), whatever a DLL's own header says. */
static void look_behind_the_sizes(void) {
  struct {
    mqs_target_type_sizes sizes;
    int behind[8];
  } room;
  memset(&room, 0x5a, sizeof room);
  now.image_host->mqs_get_type_sizes_fp(now.process, &room.sizes);
  for (int i = 0; i < 8; ++i)
    if (room.behind[i] != 0x5a5a5a5a)
      abort();
}

const struct evil answers[] = {
    {"code_minus_1", code_minus_1},
    {"code_57", code_57},
    {"code_of_the_user", code_of_the_user},
    {"code_min", code_min},
    {"code_max", code_max},
    {"no_text", no_text},
    {"wild_text", wild_text},
    {"text_without_an_end", text_without_an_end},
    {"text_of_controls", text_of_controls},
    {"message_of_directives", message_of_directives},
    {"refuse_with_directives", refuse_with_directives},
    {"wild_message", wild_message},
    {"print_directives", print_directives},
    {"size_minus_1", size_minus_1},
    {"size_int_max", size_int_max},
    {"size_2_40", size_2_40},
    {"size_min", size_min},
    {"size_max", size_max},
    {"size_as_large_as_is_read", size_as_large_as_is_read},
    {"rank_beyond_size", rank_beyond_size},
    {"name_without_an_end", name_without_an_end},
    {"name_of_controls", name_of_controls},
    {"name_of_half_a_letter", name_of_half_a_letter},
    {"beyond_the_communicator", beyond_the_communicator},
    {"beyond_the_group", beyond_the_group},
    {"far_beyond_the_group", far_beyond_the_group},
    {"beyond_the_operation", beyond_the_operation},
    {"far_beyond_the_communicator", far_beyond_the_communicator},
    {"far_beyond_the_operation", far_beyond_the_operation},
    {"text_lines_without_an_end", text_lines_without_an_end},
    {"text_lines_of_controls", text_lines_of_controls},
    {"extreme_fields", extreme_fields},
    {"look_behind_the_sizes", look_behind_the_sizes},
    {NULL, NULL},
};
