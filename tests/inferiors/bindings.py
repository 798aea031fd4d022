# As bindings.F90, by way of mpi4py.
import os
import sys
import time

from mpi4py import MPI

directory = sys.argv[1]
rank = MPI.COMM_WORLD.Get_rank()
buffer = bytearray(4)
with open(f"{directory}/ready-partial.{rank}", "w") as ready:
    print(os.getpid(), file=ready)
os.rename(ready.name, f"{directory}/ready.{rank}")
if rank == 0:
    MPI.COMM_WORLD.Recv(buffer, 1, 7)
else:
    while not os.path.exists(f"{directory}/go"):
        time.sleep(0.01)
    MPI.COMM_WORLD.Send(buffer, 0, 7)
open(f"{directory}/finished.{rank}", "w").close()
