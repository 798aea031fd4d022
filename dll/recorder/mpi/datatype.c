#include "dll/recorder/mpi/datatype.h"

#include "dll/recorder/mpi/call.h"

#include <string.h>

enum { remembered = 8 };

/* The datatypes that this thread used last; freeing or naming any datatype makes them void. */
static _Thread_local struct mqr_type known[remembered] __attribute__((tls_model("initial-exec")));
static uint32_t epoch = 1;

static void describe(struct mqr_type* type, MPI_Datatype handle) {
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  int length = 0;
  MPI_Count size = 0;
  struct mqr_quiet quiet = mqr_quietly();
  const int is_one = mqr_mpi.Type_size_x(handle, &size) == MPI_SUCCESS;
  if (!is_one || mqr_mpi.Type_get_name(handle, name, &length) != MPI_SUCCESS)
    name[0] = '\0';
  mqr_aloud(&quiet);
  if (is_one && size > 0)
    type->size = (uint64_t)size;
  name[sizeof type->name.text - 1] = '\0';
  strcpy(type->name.text, name);
}

const struct mqr_type* mqr_type_of(MPI_Datatype handle) {
  const uint64_t mixed = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);
  struct mqr_type* const type = &known[mixed >> 61];
  const uint32_t now = __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
  if (type->handle == handle && type->epoch == now)
    return type;
  *type = (struct mqr_type){.handle = handle, .epoch = now};
  if (handle != MPI_DATATYPE_NULL)
    describe(type, handle);
  return type;
}

static void forget(void) {
  __atomic_add_fetch(&epoch, 1, __ATOMIC_RELEASE);
}

MQR_RECORDED(Type_free, (MPI_Datatype * type), (type))
static int record_Type_free(const struct mqr_call* call, MPI_Datatype* type) {
  const int result = MQR_NEXT(Type_free)(type);
  forget();
  return result;
}

MQR_RECORDED(Type_set_name, (MPI_Datatype type, const char* name), (type, name))
static int record_Type_set_name(const struct mqr_call* call, MPI_Datatype type, const char* name) {
  const int result = MQR_NEXT(Type_set_name)(type, name);
  forget();
  return result;
}
