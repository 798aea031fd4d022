// Says what it reads of itself through MPI_T, the tool information interface, once that has listed
// everything: DIRECTORY/variables.RANK, a JSON document. Numbers of MPI_T's enumerators are given
// as positions in the order in which MPI declares them, which is the same for every MPI.
//   tool_variables DIRECTORY [signal | early]   signal: raises SIGUSR1 when it is done, for a stub
//                                               that holds it there; early: before MPI_T lists more
//                                               than MPI_Init has registered, and it says nothing

#include "tests/inferiors/job_files.h"

#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { text_size = 65536, most_items = 4096 };

static FILE* out;
static char text[text_size];
static char description[text_size];

static void fail(const char* what) {
  fprintf(stderr, "tool_variables: %s\n", what);
  exit(1);
}

static void put_text(const char* key, const char* value) {
  fprintf(out, "\"%s\":\"", key);
  for (const unsigned char* at = (const unsigned char*)value; *at != 0; ++at)
    if (*at < 0x20 || *at == '"' || *at == '\\')
      fprintf(out, "\\u%04x", *at);
    else
      fputc(*at, out);
  fputc('"', out);
}

static void put_position(const char* key, int value, const int* order, int count) {
  int position = -1;
  for (int i = 0; i < count; ++i)
    if (order[i] == value)
      position = i;
  fprintf(out, ",\"%s\":%d", key, position);
}
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const int levels[] = {
    MPI_T_VERBOSITY_USER_BASIC,   MPI_T_VERBOSITY_USER_DETAIL,   MPI_T_VERBOSITY_USER_ALL,
    MPI_T_VERBOSITY_TUNER_BASIC,  MPI_T_VERBOSITY_TUNER_DETAIL,  MPI_T_VERBOSITY_TUNER_ALL,
    MPI_T_VERBOSITY_MPIDEV_BASIC, MPI_T_VERBOSITY_MPIDEV_DETAIL, MPI_T_VERBOSITY_MPIDEV_ALL};
static const int bindings[] = {
    MPI_T_BIND_NO_OBJECT,      MPI_T_BIND_MPI_COMM,    MPI_T_BIND_MPI_DATATYPE,
    MPI_T_BIND_MPI_ERRHANDLER, MPI_T_BIND_MPI_FILE,    MPI_T_BIND_MPI_GROUP,
    MPI_T_BIND_MPI_OP,         MPI_T_BIND_MPI_REQUEST, MPI_T_BIND_MPI_WIN,
    MPI_T_BIND_MPI_MESSAGE,    MPI_T_BIND_MPI_INFO};
static const int scopes[] = {MPI_T_SCOPE_CONSTANT, MPI_T_SCOPE_READONLY, MPI_T_SCOPE_LOCAL,
                             MPI_T_SCOPE_GROUP,    MPI_T_SCOPE_GROUP_EQ, MPI_T_SCOPE_ALL,
                             MPI_T_SCOPE_ALL_EQ};
static const int classes[] = {MPI_T_PVAR_CLASS_STATE,         MPI_T_PVAR_CLASS_LEVEL,
                              MPI_T_PVAR_CLASS_SIZE,          MPI_T_PVAR_CLASS_PERCENTAGE,
                              MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_T_PVAR_CLASS_LOWWATERMARK,
                              MPI_T_PVAR_CLASS_COUNTER,       MPI_T_PVAR_CLASS_AGGREGATE,
                              MPI_T_PVAR_CLASS_TIMER,         MPI_T_PVAR_CLASS_GENERIC};

static void put_datatype(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Type_get_name(type, name, &length);
  fputc(',', out);
  put_text("datatype", name);
}

static void put_enumeration(MPI_T_enum enumeration) {
  int count;
  int length = text_size;
  if (enumeration == MPI_T_ENUM_NULL ||
      MPI_T_enum_get_info(enumeration, &count, text, &length) != MPI_SUCCESS) {
    fprintf(out, ",\"enumeration\":null");
    return;
  }
  fprintf(out, ",\"enumeration\":{");
  put_text("name", text);
  fprintf(out, ",\"items\":[");
  for (int i = 0; i < count && i < most_items; ++i) {
    int value;
    length = text_size;
    if (MPI_T_enum_get_item(enumeration, i, &value, text, &length) != MPI_SUCCESS)
      fail("MPI_T_enum_get_item");
    fprintf(out, "%s{\"value\":%d,", i > 0 ? "," : "", value);
    put_text("name", text);
    fputc('}', out);
  }
  fprintf(out, "]}");
}

static void put_number(MPI_Datatype type, const void* bytes) {
  if (type == MPI_INT)
    fprintf(out, "%d", *(const int*)bytes);
  else if (type == MPI_UNSIGNED)
    fprintf(out, "%u", *(const unsigned*)bytes);
  else if (type == MPI_LONG)
    fprintf(out, "%ld", *(const long*)bytes);
  else if (type == MPI_UNSIGNED_LONG)
    fprintf(out, "%lu", *(const unsigned long*)bytes);
  else if (type == MPI_UNSIGNED_LONG_LONG)
    fprintf(out, "%llu", *(const unsigned long long*)bytes);
  else if (type == MPI_COUNT)
    fprintf(out, "%lld", (long long)*(const MPI_Count*)bytes);
  else if (type == MPI_C_BOOL)
    fprintf(out, "%d", *(const unsigned char*)bytes);
  else if (type == MPI_INT32_T)
    fprintf(out, "%ld", (long)*(const int32_t*)bytes);
  else if (type == MPI_UINT32_T)
    fprintf(out, "%lu", (unsigned long)*(const uint32_t*)bytes);
  else if (type == MPI_INT64_T)
    fprintf(out, "%lld", (long long)*(const int64_t*)bytes);
  else if (type == MPI_UINT64_T)
    fprintf(out, "%llu", (unsigned long long)*(const uint64_t*)bytes);
  else if (type == MPI_DOUBLE)
    fprintf(out, "%.17g", *(const double*)bytes);
  else
    fail("a datatype that this program does not know");
}

static void put_value(int index, MPI_Datatype type, int binding) {
  static union {
    char bytes[text_size];
    double aligned;
  } value;
  MPI_T_cvar_handle handle;
  int count;
  memset(value.bytes, 0, sizeof value.bytes);
  const int bound = binding != MPI_T_BIND_NO_OBJECT;
  if (bound || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) {
    fprintf(out, ",\"value\":null");
    return;
  }
  int size;
  MPI_Type_size(type, &size);
  if (count * size > text_size)
    fail("a value that is longer than this program expects");
  if (MPI_T_cvar_read(handle, value.bytes) != MPI_SUCCESS) {
    fprintf(out, ",\"value\":null");
  } else if (type == MPI_CHAR) {
    fputc(',', out);
    put_text("value", value.bytes);
  } else {
    fprintf(out, ",\"value\":[");
    for (int i = 0; i < count; ++i) {
      fprintf(out, i > 0 ? "," : "");
      put_number(type, value.bytes + i * size);
    }
    fputc(']', out);
  }
  MPI_T_cvar_handle_free(&handle);
}

/* What variables of both kinds have; text and description are the one's that was asked for last. */
static void put_head(const char* separator, int index, int level, int binding) {
  fprintf(out, "%s\n{\"index\":%d,", separator, index);
  put_text("name", text);
  fputc(',', out);
  put_text("description", description);
  put_position("verbosity", level, levels, COUNT(levels));
  put_position("binding", binding, bindings, COUNT(bindings));
}

static void put_control(void) {
  int count;
  MPI_T_cvar_get_num(&count);
  const char* separator = "";
  for (int i = 0; i < count; ++i) {
    int level, binding, scope;
    int name_length = text_size;
    int description_length = text_size;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    if (MPI_T_cvar_get_info(i, text, &name_length, &level, &type, &enumeration, description,
                            &description_length, &binding, &scope) != MPI_SUCCESS)
      continue; // it is there no longer
    put_head(separator, i, level, binding);
    separator = ",";
    put_position("scope", scope, scopes, COUNT(scopes));
    put_datatype(type);
    put_enumeration(enumeration);
    put_value(i, type, binding);
    fputc('}', out);
  }
}

static void put_performance(void) {
  int count;
  MPI_T_pvar_get_num(&count);
  const char* separator = "";
  for (int i = 0; i < count; ++i) {
    int level, pvar_class, binding, is_readonly, is_continuous, is_atomic;
    int name_length = text_size;
    int description_length = text_size;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    if (MPI_T_pvar_get_info(i, text, &name_length, &level, &pvar_class, &type, &enumeration,
                            description, &description_length, &binding, &is_readonly,
                            &is_continuous, &is_atomic) != MPI_SUCCESS)
      continue;
    put_head(separator, i, level, binding);
    separator = ",";
    put_position("class", pvar_class, classes, COUNT(classes));
    put_datatype(type);
    put_enumeration(enumeration);
    fprintf(out, ",\"readonly\":%d,\"continuous\":%d,\"atomic\":%d}", is_readonly, is_continuous,
            is_atomic);
  }
}

static void put_indexes(const char* key, int category, int count,
                        int (*get)(int category, int count, int indexes[])) {
  int* indexes = calloc((size_t)count + 1, sizeof *indexes);
  if (indexes == NULL || get(category, count, indexes) != MPI_SUCCESS)
    fail(key);
  fprintf(out, ",\"%s\":[", key);
  for (int i = 0; i < count; ++i)
    fprintf(out, "%s%d", i > 0 ? "," : "", indexes[i]);
  fputc(']', out);
  free(indexes);
}

static void put_categories(void) {
  int count;
  MPI_T_category_get_num(&count);
  const char* separator = "";
  for (int i = 0; i < count; ++i) {
    int controls, performances, categories;
    int name_length = text_size;
    int description_length = text_size;
    if (MPI_T_category_get_info(i, text, &name_length, description, &description_length, &controls,
                                &performances, &categories) != MPI_SUCCESS)
      continue;
    fprintf(out, "%s\n{\"index\":%d,", separator, i);
    separator = ",";
    put_text("name", text);
    fputc(',', out);
    put_text("description", description);
    put_indexes("control", i, controls, MPI_T_category_get_cvars);
    put_indexes("performance", i, performances, MPI_T_category_get_pvars);
    put_indexes("categories", i, categories, MPI_T_category_get_categories);
    fputc('}', out);
  }
}

static void say_variables(const char* directory, int rank) {
  out = job_open(directory, "variables", rank);
  fprintf(out, "{\"control\":[");
  put_control();
  fprintf(out, "],\n\"performance\":[");
  put_performance();
  fprintf(out, "],\n\"categories\":[");
  put_categories();
  fprintf(out, "]}\n");
  if (fclose(out) != 0)
    fail("the file cannot be written");
}

static void ignore_signal(int number) {
  (void)number;
}

int main(int argc, char** argv) {
  if (argc < 2)
    fail("usage: tool_variables DIRECTORY [signal | early]");
  const char* mode = argc > 2 ? argv[2] : "";
  int rank;
  int provided;
  signal(SIGUSR1, ignore_signal);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(mode, "early") != 0) {
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    say_variables(argv[1], rank);
  }
  job_ready(argv[1], rank);
  if (strcmp(mode, "signal") == 0)
    raise(SIGUSR1);
  job_wait_for_go(argv[1]);
  if (strcmp(mode, "early") != 0)
    MPI_T_finalize();
  MPI_Finalize();
  job_finished(argv[1], rank);
  return 0;
}
