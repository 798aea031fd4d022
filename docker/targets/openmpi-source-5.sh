#!/usr/bin/env bash
# The headers of Open MPI 5's own source, likewise
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../source.sh" --suite trixie "$1" openmpi=5.0.7-1 openmpi_5.0.7.orig.tar.xz \
  97f10c04e9b9a1771db3fd005009e4c07afa3ce739f940e41eb0fc7397cb9473 --wildcards '*.h' '*.h.in' '*/VERSION'
