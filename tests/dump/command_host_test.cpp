#include "host/dump/target/command_host.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(CommandHost, IsWhereTheCommandLeads) {
  struct Case {
    const char* command;
    const char* host; ///< nullptr: cannot be told
  };
  const Case cases[] = {
      {"ssh node7 gdbserver --once --attach - 41822", "node7"},
      {"/usr/bin/ssh -T me@node7 'gdbserver - 7@8'", "node7"},
      {"ssh -Tq -p 22 -oBatchMode=yes -o Port=7 -J jump node7.lan gdbserver", "node7.lan"},
      {"ssh -i/home/me/key -l me node7", "node7"},
      {"  ssh\tssh://me@node7:22 gdbserver", "node7"},
      {"rsh -n -l me node7 gdbserver", "node7"},
      {"srun --jobid=7 --overlap -N1 -n1 -w n017 gdbserver", "n017"},
      {"srun --nodelist=n017 gdbserver", "n017"},
      {"srun -w n01,n02 gdbserver", nullptr},
      {"srun -w n[01-02] gdbserver", nullptr},
      {"srun gdbserver", nullptr},
      {"ssh $NODE gdbserver", nullptr},
      {"ssh \"node7\" gdbserver", nullptr},
      {"ssh -p", nullptr},
      {"ssh", nullptr},
      {"", nullptr},
      {"gdbserver --once --attach - 41822", nullptr},
      {"sh -c 'ssh node7 gdbserver'", nullptr},
      {"docker exec -i box gdbserver", nullptr},
  };
  for (const auto& [command, host] : cases)
    EXPECT_EQ(command_host(command).value_or("none"), host == nullptr ? "none" : host) << command;
}

} // namespace
} // namespace mqbridge
