/* The error handlers of windows and files: they are still in use when the program has freed its own
 * handles of them. A communicator's record has a place for its error handler; for windows and files
 * only the handles are kept. */

#include "dll/recorder/mpi/errhandlers.h"

#include <pthread.h>
#include <stdlib.h>

static struct mqr_attachment* attachments;
static size_t count, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int keep(struct mqr_attachment attachment) {
  pthread_mutex_lock(&lock);
  if (count == room) {
    struct mqr_attachment* const after =
        realloc(attachments, (2 * room + 16) * sizeof *attachments);
    if (after != NULL) {
      attachments = after;
      room = 2 * room + 16;
    }
  }
  const int kept = count < room;
  if (kept)
    attachments[count++] = attachment;
  pthread_mutex_unlock(&lock);
  return kept;
}

struct mqr_attachment mqr_withdraw_attachment(const void* object) {
  struct mqr_attachment found = {object, NULL};
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < count && found.errhandler == NULL; ++i)
    if (attachments[i].object == object) {
      found = attachments[i];
      attachments[i] = attachments[--count];
    }
  pthread_mutex_unlock(&lock);
  return found;
}

void mqr_attachment_freed(struct mqr_attachment attachment) {
  if (attachment.errhandler != NULL)
    mqr_errhandler_detach(attachment.errhandler);
}

void mqr_attachment_not_freed(struct mqr_attachment attachment) {
  if (attachment.errhandler != NULL && !keep(attachment))
    mqr_handles_note(MQR_UNSEEN_ERRHANDLERS); /* it stays attached, as far as anybody knows */
}

static void set(const void* object, MPI_Errhandler errhandler, uint32_t kind) {
  const struct mqr_attachment before = mqr_withdraw_attachment(object);
  const struct mqr_attachment now = {object, MQR_HANDLE(errhandler)};
  mqr_meet_errhandler(errhandler, kind);
  mqr_errhandler_attach(now.errhandler);
  mqr_attachment_not_freed(now);
  mqr_attachment_freed(before);
}

/* If the recorder has not seen the making of the error handler, it is not known how many handles
 * the program has. */
static void get(const void* object, MPI_Errhandler errhandler, uint32_t kind) {
  if (!mqr_errhandler_is_known(MQR_HANDLE(errhandler))) {
    mqr_handles_note(MQR_UNSEEN_ERRHANDLERS);
    set(object, errhandler, kind);
  }
  mqr_errhandler_refer(MQR_HANDLE(errhandler));
}

MQR_NOTED(Win_set_errhandler, (MPI_Win window, MPI_Errhandler errhandler), (window, errhandler))
static int note_Win_set_errhandler(Win_set_errhandler_function* next, MPI_Win window,
                                   MPI_Errhandler errhandler) {
  const int result = next(window, errhandler);
  if (result == MPI_SUCCESS)
    set(MQR_HANDLE(window), errhandler, MQR_FOR_WINDOWS);
  return result;
}

MQR_NOTED(Win_get_errhandler, (MPI_Win window, MPI_Errhandler* errhandler), (window, errhandler))
static int note_Win_get_errhandler(Win_get_errhandler_function* next, MPI_Win window,
                                   MPI_Errhandler* errhandler) {
  if (mqr_here.in_errhandler_call)
    return next(window, errhandler);
  MQR_IN_ERRHANDLER_CALL;
  const int result = next(window, errhandler);
  if (result == MPI_SUCCESS)
    get(MQR_HANDLE(window), *errhandler, MQR_FOR_WINDOWS);
  return result;
}

/* Every file that is opened from then on gets the error handler of MPI_FILE_NULL, and keeps it. */
MQR_NOTED(File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler), (file, errhandler))
static int note_File_set_errhandler(File_set_errhandler_function* next, MPI_File file,
                                    MPI_Errhandler errhandler) {
  const int result = next(file, errhandler);
  const int is_own = errhandler != MPI_ERRORS_ARE_FATAL && errhandler != MPI_ERRORS_RETURN;
  if (result == MPI_SUCCESS && file == MPI_FILE_NULL && is_own)
    mqr_handles_note(MQR_UNSEEN_ERRHANDLERS);
  if (result == MPI_SUCCESS)
    set(MQR_HANDLE(file), errhandler, MQR_FOR_FILES);
  return result;
}

MQR_NOTED(File_get_errhandler, (MPI_File file, MPI_Errhandler* errhandler), (file, errhandler))
static int note_File_get_errhandler(File_get_errhandler_function* next, MPI_File file,
                                    MPI_Errhandler* errhandler) {
  if (mqr_here.in_errhandler_call)
    return next(file, errhandler);
  MQR_IN_ERRHANDLER_CALL;
  const int result = next(file, errhandler);
  if (result == MPI_SUCCESS)
    get(MQR_HANDLE(file), *errhandler, MQR_FOR_FILES);
  return result;
}
