! Procedures with every kind of name, that call each other to a core.
module halo
contains
  subroutine exchange(n)
    integer, intent(in) :: n
    if (n > 0) call abort()
  end subroutine
end module

subroutine plain(n)
  use halo
  integer, intent(in) :: n
  call exchange(n)
  print *, n
end subroutine

program ring
  integer :: steps
  steps = 3
  call step()
contains
  subroutine step()
    call plain(steps)
    print *, steps
  end subroutine
end program
