! The calls of one_request_calls.c, made by Fortran.
subroutine block_in_fortran(call, buffer, length, peer, tag, begun) bind(c)
  use iso_c_binding
  implicit none
  include 'mpif.h'
  integer(c_int), value :: call, length, peer, tag, begun
  character(kind=c_char) :: buffer(*)
  integer :: status(MPI_STATUS_SIZE), request, message, error
  request = begun
  select case (call)
  case (0)
    call MPI_Recv(buffer, length, MPI_CHARACTER, peer, tag, MPI_COMM_WORLD, status, error)
  case (1)
    call MPI_Send(buffer, length, MPI_CHARACTER, peer, tag, MPI_COMM_WORLD, error)
  case (2)
    call MPI_Ssend(buffer, length, MPI_CHARACTER, peer, tag, MPI_COMM_WORLD, error)
  case (3)
    call MPI_Wait(request, status, error)
  case (4)
    call MPI_Probe(peer, tag, MPI_COMM_WORLD, status, error)
  case default
    call MPI_Mprobe(peer, tag, MPI_COMM_WORLD, message, status, error)
  end select
end subroutine
