"""The command `mpi` of gdb, behind mqbridge: `source` this file, or start gdb with `mqbridge gdb`."""

import gdb

WORDS = {
    "queues": "--queue --comm --tag --peer --show --summary --raw --stats --threads --no-stacks --no-python --fetch-files",
    "comms": "--full --fetch-files",
    "stacks": "--threads --no-python --fetch-files",
    "verdict": "--twice --full --stats --fetch-files",
    "handles": "--request --communicator --errhandler --status --full --fortran --fetch-files",
    "vars": "--kind --verbosity --category --pattern --source --full --fetch-files",
    "help": "",
}


class Mpi(gdb.Command):
    """The MPI of this process, as it stands: mpi queues|comms|stacks|verdict|handles|vars [OPTIONS].

mpi help lists the options."""

    def __init__(self):
        super().__init__("mpi", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        gdb.execute("monitor mpi " + argument, from_tty)

    def complete(self, text, word):
        words = text.split()
        if not words or (len(words) == 1 and not text.endswith(" ")):
            return [each for each in WORDS if each.startswith(text.strip())]
        begun = text.split(" ")[-1]
        skipped = len(begun) - len(word)  # gdb takes a `-` for the end of a word
        return [each[skipped:] for each in WORDS.get(words[0], "").split() if each.startswith(begun)]


Mpi()
