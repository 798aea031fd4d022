// Where a command line of ssh or srun leads to, as another program has written it.

#include "host/launch/remote_command.h"

#include <gmock/gmock.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> hosts(const std::vector<std::string_view>& command) {
  return remote_hosts(command);
}

TEST(RemoteHosts, OfSshIsTheWordBehindItsOptions) {
  EXPECT_THAT(hosts({"ssh", "n1", "prted"}), ElementsAre("n1"));
  EXPECT_THAT(hosts({"/usr/bin/ssh", "-F", "/tmp/client", "-x", "n1", "prted", "-F", "n2"}),
              ElementsAre("n1"));
  EXPECT_THAT(hosts({"ssh", "-xp", "22", "-p22", "-oBatchMode=yes", "-o", "Port=1", "me@n1"}),
              ElementsAre("me@n1"));
  EXPECT_THAT(hosts({"ssh", "-x", "--", "n1", "true"}), ElementsAre("n1"));
  EXPECT_THAT(hosts({"ssh", "-F"}), IsEmpty());
  EXPECT_THAT(hosts({"ssh", "--"}), IsEmpty());
}

TEST(RemoteHosts, OfSrunAreThoseOfItsList) {
  EXPECT_THAT(hosts({"srun", "--nodes=2", "--nodelist=n1,n2", "prted"}), ElementsAre("n1", "n2"));
  EXPECT_THAT(hosts({"srun", "--nodelist=n[1-2]", "prted"}), IsEmpty()); // Slurm's to expand
  EXPECT_THAT(hosts({"srun", "-n2", "prted"}), IsEmpty());
}

TEST(RemoteHosts, OfOtherCommandsAreNotKnown) {
  EXPECT_THAT(hosts({}), IsEmpty());
  EXPECT_THAT(hosts({"bash", "ssh", "n1"}), IsEmpty());
  EXPECT_THAT(hosts({"qrsh", "n1", "prted"}), IsEmpty());
}

} // namespace
} // namespace mqbridge::test
