#include "tests/e2e/harness/own_root.h"

#include <cstdlib>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

/// `sh -c` it with the new root, the files, pairs of what is bound and where, "--", and a command.
/// A small root may have no umount: then the old one stays beside it.
constexpr const char* script = R"(set -e
PATH=/usr/bin:/bin:/usr/sbin:/sbin
mount --make-rprivate /
root=$1 files=${2%/}
shift 2
mount -t tmpfs none "$root"
for entry in "$files"/*; do
  place=$root/${entry##*/}
  if [ -L "$entry" ]; then
    cp -P "$entry" "$place"
  elif [ -d "$entry" ]; then
    mkdir "$place"
    mount --rbind "$entry" "$place"
  fi
done
while [ "$1" != -- ]; do
  [ -e "$root$2" ] || mkdir -p "$root$2"
  mount --rbind "$1" "$root$2"
  shift 2
done
shift
mkdir "$root/old-root"
cd "$root"
pivot_root . old-root
umount -l old-root 2>/dev/null || :
cd /
exec "$@")";

} // namespace

std::string lacking_own_roots() {
  return geteuid() == 0 && std::system("unshare --mount true 2>&1") == 0
             ? ""
             : "unshare --mount is not allowed here: as root";
}

std::vector<std::string>
in_own_root(const std::filesystem::path& root, const std::filesystem::path& files,
            const std::vector<std::pair<std::filesystem::path, std::filesystem::path>>& binds) {
  std::vector<std::string> command = {"unshare", "--mount", "sh", "-c", script, "sh", root, files};
  for (const auto& [from, to] : binds)
    command.insert(command.end(), {from, to});
  command.emplace_back("--");
  return command;
}

} // namespace mqbridge::e2e
