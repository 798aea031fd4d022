! Rank 0 waits in MPI_Recv for rank 1, which sends when the test says go. Compiled once for each of
! Fortran's ways to MPI: -DMPIF_H, -DUSE_MPI, -DUSE_MPI_F08.
!   bindings DIRECTORY
module halo
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  use iso_c_binding
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
  interface
    subroutine job_ready(directory, rank) bind(c)
      import
      character(kind=c_char), intent(in) :: directory(*)
      integer(c_int), value :: rank
    end subroutine
    subroutine job_wait_for_go(directory) bind(c)
      import
      character(kind=c_char), intent(in) :: directory(*)
    end subroutine
    subroutine job_finished(directory, rank) bind(c)
      import
      character(kind=c_char), intent(in) :: directory(*)
      integer(c_int), value :: rank
    end subroutine
  end interface
contains
  subroutine exchange(rank, directory)
    integer, intent(in) :: rank
    character(len=*), intent(in) :: directory
    integer :: value, error
    value = rank
    call job_ready(directory, rank)
    if (rank == 0) then
      call MPI_Recv(value, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    else
      call job_wait_for_go(directory)
      call MPI_Send(value, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, error)
    end if
  end subroutine
end module

program bindings
  use halo
  implicit none
  character(len=4096) :: directory
  integer :: rank, error
  call get_command_argument(1, directory)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call exchange(rank, trim(directory)//c_null_char)
  call MPI_Finalize(error)
  call job_finished(trim(directory)//c_null_char, rank)
end program
