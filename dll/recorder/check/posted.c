/* The small job with which `mqbridge recorder make` checks a recorder. It posts a receive, writes
   its process number into the file that it is given, and waits until that file is gone. Then it
   lets the receive complete, and ends as MPI programs do. */

#include <mpi.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { tag = CHECK_TAG, sent = 7, most_looks = 12000, microseconds_between = 10000 };

int main(int argc, char** argv) {
#ifdef PR_SET_PTRACER
  /* Its gdbserver is no ancestor of it, and Yama lets only ancestors in unless told otherwise. */
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
  if (argc != 2 || MPI_Init(&argc, &argv) != MPI_SUCCESS)
    return 1;
  int value = 0;
  MPI_Request receive;
  MPI_Irecv(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &receive);
  FILE* const file = fopen(argv[1], "w");
  if (file == NULL)
    return 1;
  fprintf(file, "%ld\n", (long)getpid());
  fclose(file);
  /* Not for ever: whoever should remove it may have been killed. */
  for (int look = 0; look < most_looks && access(argv[1], F_OK) == 0; ++look)
    usleep(microseconds_between);
  const int number = sent;
  MPI_Send(&number, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return value == sent ? 0 : 1;
}
