! The same two messages in each of MPI's Fortran bindings: MPIF_H, USE_MPI or USE_MPI_F08 is defined.
program bindings
#ifdef USE_MPI
  use mpi
#endif
#ifdef USE_MPI_F08
  use mpi_f08
#endif
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
#ifdef USE_MPI_F08
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: statuses(2)
#else
  integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
#endif
  integer :: ierror, me, other, sent(4), received(4)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  other = 1 - me
  sent = me
  call MPI_Irecv(received, 4, MPI_INTEGER, other, 7, MPI_COMM_WORLD, requests(1), ierror)
  call check_posted()
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Issend(sent, 4, MPI_INTEGER, other, 7, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Waitall(2, requests, statuses, ierror)
  if (received(1) /= other) error stop 4
  call MPI_Bcast(sent, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  call check_done()
  call MPI_Finalize(ierror)
  call tell_passed()
end program bindings
