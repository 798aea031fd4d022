/* An MPI_Errhandler is the address of an ompi_errhandler_t. */

#include "dll/handles/openmpi/objects.h"

/* ompi/errhandler/errhandler.h */
enum type { TYPE_PREDEFINED, TYPE_COMM, TYPE_WIN, TYPE_FILE };
enum language { LANGUAGE_C, LANGUAGE_CXX, LANGUAGE_FORTRAN };

/* The communicators, windows and files that have the error handler. MPIDBG_ERR_UNAVAILABLE: not all
 * are known. */
static int find_owners(const mqs_process_info* process, const struct openmpi* openmpi,
                       mqs_taddr_t errhandler, struct handle_list* owners) {
  static const struct {
    enum openmpi_symbol table;
    enum openmpi_field errhandler;
  } kinds[] = {
      {COMMS, COMM_ERRHANDLER}, {WINDOWS, WIN_ERRHANDLER}, {FILES_OF_FORTRAN, FILE_ERRHANDLER}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    struct handle_list objects = {0};
    int code = openmpi_list_table(process, openmpi, kinds[i].table, &objects);
    for (int j = 0; j < objects.count && code == MPIDBG_SUCCESS; ++j) {
      mqs_taddr_t of = 0;
      if (!openmpi_word(process, openmpi, objects.handles[j], kinds[i].errhandler, &of))
        code = MPIDBG_ERR_UNAVAILABLE;
      else if (of == errhandler)
        code = handles_list_add(owners, objects.handles[j]);
    }
    if (objects.handles != NULL)
      handles_host->mqs_free_fp(objects.handles);
    if (code != MPIDBG_SUCCESS)
      return code;
  }
  return MPIDBG_SUCCESS;
}

/* Each handle of the program holds a reference, and so does each object that it is attached to:
 * where there are no more references than objects, the program has freed all of its own. */
static void add_owners(const mqs_process_info* process, const struct openmpi* openmpi,
                       struct mpidbg_errhandler_info_t* info) {
  struct handle_list owners = {0};
  const int predefined = (info->eh_bitflags & MPIDBG_ERRH_INFO_PREDEFINED) != 0;
  int references = 0;
  if (!predefined)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_FREED_NOT_KNOWN;
  if (find_owners(process, openmpi, info->eh_c_handle, &owners) != MPIDBG_SUCCESS ||
      owners.count > INT16_MAX)
    return;
  info->eh_refcount = (int16_t)owners.count;
  info->eh_handles =
      owners.handles != NULL ? owners.handles : handles_array(0, sizeof *owners.handles);
  if (predefined ||
      !openmpi_int(process, openmpi, info->eh_c_handle, OBJECT_REFERENCES, &references))
    return;
  info->eh_bitflags &= ~(unsigned)MPIDBG_ERRH_INFO_FREED_NOT_KNOWN;
  if (references <= owners.count)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_FREED_HANDLE;
}

static int add_function(const mqs_process_info* process, const struct openmpi* openmpi, int type,
                        int language, struct mpidbg_errhandler_info_t* info) {
  enum openmpi_field function = ERRHANDLER_FORTRAN_FUNCTION;
  if (language != LANGUAGE_FORTRAN)
    info->eh_bitflags |= MPIDBG_ERRH_INFO_C_CALLBACK;
  switch (type) {
  case TYPE_PREDEFINED:
    info->eh_bitflags |= MPIDBG_ERRH_INFO_PREDEFINED | MPIDBG_ERRH_INFO_COMMUNICATOR |
                         MPIDBG_ERRH_INFO_FILE | MPIDBG_ERRH_INFO_WINDOW;
    return 1;
  case TYPE_COMM:
    info->eh_bitflags |= MPIDBG_ERRH_INFO_COMMUNICATOR;
    function = language == LANGUAGE_FORTRAN ? function : ERRHANDLER_COMM_FUNCTION;
    break;
  case TYPE_WIN:
    info->eh_bitflags |= MPIDBG_ERRH_INFO_WINDOW;
    function = language == LANGUAGE_FORTRAN ? function : ERRHANDLER_WIN_FUNCTION;
    break;
  case TYPE_FILE:
    info->eh_bitflags |= MPIDBG_ERRH_INFO_FILE;
    function = language == LANGUAGE_FORTRAN ? function : ERRHANDLER_FILE_FUNCTION;
    break;
  default:
    return 0;
  }
  return openmpi_word(process, openmpi, info->eh_c_handle, function, &info->eh_callback_func);
}

int openmpi_errhandler(const mqs_process_info* process, void* state,
                       struct mpidbg_errhandler_info_t* info) {
  const struct openmpi* const openmpi = state;
  const mqs_taddr_t errhandler = info->eh_c_handle;
  int type = 0;
  int language = 0;
  int fortran = 0;
  const int code =
      openmpi_check_listed(process, openmpi, errhandler, CLASS_ERRHANDLER, ERRHANDLERS_OF_FORTRAN);
  if (code != MPIDBG_SUCCESS)
    return code;
  if (!openmpi_int(process, openmpi, errhandler, ERRHANDLER_TYPE, &type) ||
      !openmpi_int(process, openmpi, errhandler, ERRHANDLER_LANGUAGE, &language) ||
      !openmpi_int(process, openmpi, errhandler, ERRHANDLER_FORTRAN, &fortran) ||
      !add_function(process, openmpi, type, language, info))
    return MPIDBG_ERR_UNAVAILABLE;
  info->eh_fortran_handle = fortran;
  handles_string(process, openmpi_at(openmpi, errhandler, ERRHANDLER_NAME), info->eh_name,
                 sizeof info->eh_name);
  add_owners(process, openmpi, info);
  return MPIDBG_SUCCESS;
}
