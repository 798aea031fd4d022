/* MPI_T in the program itself, and what the recorder lists and samples. The argument says what. */

#include "tests/recorder/programs/expected.h"

#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct mqr_variables* listed(void) {
  return recorder() != NULL ? (const struct mqr_variables*)recorder()->variables.word : NULL;
}

static const struct mqr_samples* sampled(void) {
  return listed() != NULL ? (const struct mqr_samples*)listed()->samples.word : NULL;
}

static uint64_t last_sample(void) {
  return sampled() != NULL ? sampled()->taken : 0;
}

static void pause_ms(long milliseconds) {
  const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

/* The last call that waits was long ago, and so was the last sample. */
static void waits(void) {
  pause_ms(100);
  MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF);
}

static void tests(void) {
  int flag;
  MPI_Request request = MPI_REQUEST_NULL;
  pause_ms(100);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static int has_variables(void) {
  int count = 0;
  return MPI_T_cvar_get_num(&count) == MPI_SUCCESS && count > 0;
}

/* The program's own use, begun before MPI_Init and ended after MPI_Finalize: the recorder leaves
 * MPI_T alone with Open MPI, whose variables then lead to unloaded components. It ends a program
 * that finalizes MPI_T after MPI. */
static void early(int* argc, char*** argv) {
  int provided;
  MPI_T_pvar_session session;
  REQUIRE(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  MPI_Init(argc, argv);
  REQUIRE(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  waits();
  REQUIRE(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
  passed("variables");
#ifdef OPEN_MPI
  REQUIRE(listed() == NULL);
  REQUIRE(has_variables());
  MPI_Finalize();
#else
  REQUIRE(recorder() == NULL || listed() != NULL);
  MPI_Finalize();
  REQUIRE(has_variables());
  REQUIRE(MPI_T_finalize() == MPI_SUCCESS);
  REQUIRE(!has_variables());
#endif
}

/* What MPI_Init_thread provided is what MPI has, and MPI_T says to the program what it provides. */
static void levels(int* argc, char*** argv) {
  int provided, level;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Query_thread(&level);
  REQUIRE(level == provided);
  provided = INT_MIN;
  REQUIRE(MPI_T_init_thread(level, &provided) == MPI_SUCCESS);
  REQUIRE(provided == level);
  MPI_Query_thread(&level);
  REQUIRE(level == provided);
  REQUIRE(MPI_T_finalize() == MPI_SUCCESS);
  passed("variables");
  MPI_Finalize();
}

/* It finalizes what it has not initialized: what was the recorder's is gone, and nothing else. */
static void too_often(void) {
  const uint64_t before = last_sample();
  MPI_T_finalize();
  waits();
  waits();
  REQUIRE(last_sample() == before);
#ifdef OPEN_MPI /* MPICH has no variables any more, and ends a program that asks for them */
  int provided;
  REQUIRE(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
  waits();
  REQUIRE(has_variables());
#endif
}

/* `in_tests`: MQBRIDGE_SAMPLE_MS is set. MPICH has nothing to sample. */
static void samples(int in_tests) {
  uint64_t before = last_sample();
  const int there_are_any = before != 0;
  waits();
  REQUIRE(there_are_any == (last_sample() > before));
  before = last_sample();
  tests();
  REQUIRE((there_are_any && in_tests) == (last_sample() > before));
  const struct mqr_variables* const list = listed();
  waits();
  REQUIRE(listed() == list); /* MPI has no others: the same block */
}

/* More than the recorder takes at once. */
static void many(void) {
  enum { count = 70 };
  MPI_Comm made[count];
  waits();
  const uint32_t before = sampled() != NULL ? sampled()->readings.count : 0;
  for (int i = 0; i < count; ++i)
    MPI_Comm_dup(MPI_COMM_SELF, &made[i]);
  waits();
  const uint32_t most = sampled() != NULL ? sampled()->readings.count : 0;
  for (int i = 0; i < count; ++i)
    MPI_Comm_free(&made[i]);
  waits();
  if (sampled() == NULL)
    return;
  REQUIRE(sampled()->readings.count == before);
  /* MPI_COMM_WORLD and MPI_COMM_SELF are two of the 64. UCX has no variables of communicators. */
  REQUIRE(most == before || most == before + (64 - 2) * 2);
}

static int free_value(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)extra;
  return MPI_Comm_free(value);
}

/* The callback of an attribute frees another communicator. */
static void attributes(void) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_value, &keyval, NULL);
  waits();
  const uint32_t before = sampled() != NULL ? sampled()->readings.count : 0;
  for (int i = 0; i < 10; ++i) {
    MPI_Comm outer, inner;
    MPI_Comm_dup(MPI_COMM_SELF, &outer);
    MPI_Comm_dup(MPI_COMM_SELF, &inner);
    MPI_Comm_set_attr(outer, keyval, &inner);
    MPI_Comm_free(&outer);
    REQUIRE(inner == MPI_COMM_NULL);
    for (size_t size = 16; size < 3000; size += 16) { /* where it was lies something else */
      char* const memory = malloc(size);
      memset(memory, 'A', size);
      free(memory);
    }
    waits();
    REQUIRE(sampled() == NULL || sampled()->readings.count == before);
  }
}

/* A text of the environment, in the list. */
static void text(void) {
#ifdef OPEN_MPI
  const char* const given = getenv("OMPI_MCA_coll_tuned_dynamic_rules_filename");
  const struct mqr_variables* const list = listed();
  const char* const block = (const char*)list;
  const struct mqr_variable* const all =
      (const struct mqr_variable*)(const void*)(block + list->parts[MQR_PART_VARIABLES].at);
  const char* const texts = block + list->parts[MQR_PART_TEXTS].at;
  const char* const values = block + list->parts[MQR_PART_VALUES].at;
  uint32_t i = 0;
  while (i < list->parts[MQR_PART_VARIABLES].count &&
         strcmp(texts + all[i].name, "coll_tuned_dynamic_rules_filename") != 0)
    ++i;
  REQUIRE(given != NULL && i < list->parts[MQR_PART_VARIABLES].count);
  if (strlen(given) >= MQR_MAX_VALUE) {
    REQUIRE(all[i].state == MQR_VALUE_LARGE && all[i].count == 0);
    return;
  }
  REQUIRE(all[i].state == MQR_VALUE_READ && all[i].count == strlen(given));
  REQUIRE(memcmp(values + all[i].value, given, strlen(given)) == 0);
#endif
}

/* Called by the tool. */
static int stamp, jumps;
static jmp_buf target;
int recorder_test_changed(int* to);
int recorder_test_changed(int* to) {
  if (jumps)
    longjmp(target, 1);
  *to = stamp;
  return MPI_SUCCESS;
}

static void changes(void) {
  const struct mqr_variables* list = listed();
  pause_ms(1100);
  waits();
  REQUIRE(listed() == list);
  ++stamp;
  waits();
  REQUIRE(listed() != list && listed()->parts[MQR_PART_VARIABLES].count > 100);
  list = listed();
  ++stamp;
  waits(); /* too early for another one */
  REQUIRE(listed() == list);
}

/* As a signal handler might do. */
static void jumps_out(void) {
  MPI_Comm made;
  pause_ms(1100);
  jumps = 1;
  if (setjmp(target) == 0) {
    waits();
    REQUIRE(!"the tool has jumped");
  }
  MPI_Comm_dup(MPI_COMM_SELF, &made);
  waits();
  MPI_Comm_free(&made);
}

static void runs(const char* what, int in_tests) {
  if (strcmp(what, "too_often") == 0)
    too_often();
  if (strcmp(what, "samples") == 0)
    samples(in_tests);
  if (strcmp(what, "many") == 0)
    many();
  if (strcmp(what, "attributes") == 0)
    attributes();
  if (strcmp(what, "text") == 0)
    text();
  if (strcmp(what, "changes") == 0)
    changes();
  if (strcmp(what, "jumps") == 0)
    jumps_out();
}

int main(int argc, char** argv) {
  REQUIRE(argc > 1);
  if (strcmp(argv[1], "early") == 0) {
    early(&argc, &argv);
    return 0;
  }
  if (strcmp(argv[1], "levels") == 0) {
    levels(&argc, &argv);
    return 0;
  }
  MPI_Init(&argc, &argv);
  REQUIRE(recorder() == NULL || listed() != NULL);
  runs(argv[1], argc > 2);
  passed("variables");
  MPI_Finalize();
  return 0;
}
