/* The interface's functions, each with its place for an evil. */

#include "tests/mqs/hostile/hostile.h"

#include <stdlib.h>
#include <string.h>

/* Found by its mark in the file, and filled in there. */
static volatile struct {
  char mark[32];
  char evil[48];
  char place[48];
} plan = {"mqbridge-hostile-dll-plan", "none", "nowhere"};

struct situation now;
int never_ends_communicators, never_ends_operations, destructor_loops;

static int communicator_index, op_class, operation_index;

enum { communicators = 2, receives = 3 };

static const struct evil* find_evil(void) {
  const struct evil* const all[] = {crashes, endless, answers, callbacks, processes, exceptions};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    for (const struct evil* each = all[i]; each->name != NULL; ++each)
      if (strcmp(each->name, (const char*)plan.evil) == 0)
        return each;
  return NULL;
}

static int is_place(const char* function) {
  return strcmp((const char*)plan.place, function) == 0;
}

static void misbehave_in(const char* function) {
  const struct evil* evil = is_place(function) ? find_evil() : NULL;
  if (evil != NULL)
    evil->act();
}

/* `code` is what a good DLL answers here. */
static int answer(const char* function, int code) {
  now.code = code;
  misbehave_in(function);
  return now.code;
}

static char* answer_text(const char* function, char* text) {
  now.text = text;
  misbehave_in(function);
  return now.text;
}

/* Within the iteration: in the second communicator, so that the first was complete before. */
static int answer_late(const char* function, int code) {
  return communicator_index == 1 ? answer(function, code) : code;
}

__attribute__((constructor)) static void construct(void) {
  const int planned = strcmp((const char*)plan.evil, "none") != 0;
  if (planned && find_evil() == NULL)
    abort(); /* no such evil: the test shows it */
  misbehave_in("constructor");
}

__attribute__((destructor)) static void destruct(void) {
  while (destructor_loops)
    ++operation_index;
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* given) {
  now.host = given;
  misbehave_in("mqs_setup_basic_callbacks");
}
char* mqs_version_string(void) {
  return answer_text("mqs_version_string", "hostile 1.0");
}
int mqs_version_compatibility(void) {
  return answer("mqs_version_compatibility", 2);
}
int mqs_dll_taddr_width(void) {
  return answer("mqs_dll_taddr_width", 8);
}
char* mqs_dll_error_string(int code) {
  (void)code;
  return answer_text("mqs_dll_error_string", "an error of the hostile DLL");
}

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* given) {
  now.image = image;
  now.image_host = given;
  now.host->mqs_put_image_info_fp(image, now.host->mqs_malloc_fp(64));
  return answer("mqs_setup_image", mqs_ok);
}
int mqs_image_has_queues(mqs_image* image, char** message) {
  (void)image;
  now.message = message;
  return answer("mqs_image_has_queues", mqs_ok);
}
int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* given) {
  now.process = process;
  now.process_host = given;
  now.host->mqs_put_process_info_fp(process, now.host->mqs_malloc_fp(64));
  return answer("mqs_setup_process", mqs_ok);
}
int mqs_process_has_queues(mqs_process* process, char** message) {
  (void)process;
  now.message = message;
  return answer("mqs_process_has_queues", mqs_ok);
}

int mqs_update_communicator_list(mqs_process* process) {
  (void)process;
  return answer("mqs_update_communicator_list", mqs_ok);
}
int mqs_setup_communicator_iterator(mqs_process* process) {
  (void)process;
  communicator_index = 0;
  return answer("mqs_setup_communicator_iterator", mqs_ok);
}
int mqs_get_communicator(mqs_process* process, mqs_communicator* out) {
  (void)process;
  now.communicator = out;
  out->unique_id = 0xc0 + (mqs_taddr_t)communicator_index;
  out->size = 2;
  out->local_rank = 1;
  strcpy(out->name, communicator_index == 0 ? "first" : "second");
  return answer_late("mqs_get_communicator", mqs_ok);
}
int mqs_get_comm_group(mqs_process* process, int* ranks) {
  (void)process;
  now.ranks = ranks;
  ranks[0] = 8;
  ranks[1] = 9;
  return answer_late("mqs_get_comm_group", mqs_ok);
}
int mqs_next_communicator(mqs_process* process) {
  (void)process;
  const int code = answer_late("mqs_next_communicator",
                               communicator_index + 1 < communicators ? mqs_ok : mqs_end_of_list);
  ++communicator_index;
  return never_ends_communicators ? mqs_ok : code;
}

int mqs_setup_operation_iterator(mqs_process* process, int wanted) {
  (void)process;
  op_class = wanted;
  operation_index = 0;
  if (wanted != mqs_pending_receives)
    return mqs_end_of_list;
  return answer_late("mqs_setup_operation_iterator", mqs_ok);
}
int mqs_next_operation(mqs_process* process, mqs_pending_operation* out) {
  (void)process;
  if (operation_index == receives && !never_ends_operations)
    return communicator_index == 1 && is_place("mqs_dll_error_string") ? 142 : mqs_end_of_list;
  now.operation = out;
  out->desired_local_rank = 1;
  out->desired_tag = operation_index++;
  out->desired_length = 8;
  strcpy(out->extra_text[0], "hostile");
  return operation_index == 2 ? answer_late("mqs_next_operation", mqs_ok) : mqs_ok;
}

int mqs_destroy_process_info(mqs_process_info* info) {
  now.host->mqs_free_fp(info);
  return answer("mqs_destroy_process_info", mqs_ok);
}
int mqs_destroy_image_info(mqs_image_info* info) {
  now.host->mqs_free_fp(info);
  return answer("mqs_destroy_image_info", mqs_ok);
}

/* For the tests: the names of all evils, in order; NULL after the last. */
const char* hostile_evil(int index) {
  const struct evil* const all[] = {crashes, endless, answers, callbacks, processes, exceptions};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    for (const struct evil* each = all[i]; each->name != NULL; ++each)
      if (index-- == 0)
        return each->name;
  return NULL;
}
