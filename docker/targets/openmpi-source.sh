#!/usr/bin/env bash
# The headers of Open MPI's own source, which `mqbridge types make --source` takes the types of ob1 from
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../source.sh" --suite bookworm "$1" openmpi=4.1.4-3 openmpi_4.1.4.orig.tar.xz \
  ddaee7dbdb01eb4fab1fda5b5e03e8bbff026711806c095c1f39bb410f99f263 --wildcards '*.h' '*.h.in' '*/VERSION'
