#!/usr/bin/env bash
# The program is configured from its own three folders and the file with its version, without the tests and benchmarks: what docker/Dockerfile.host copies.
#   tests/check_product_alone.sh BUILD_DIRECTORY
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1/product_alone"
cd "$1/product_alone"
rm -rf build
ln -sfn -t . "$top"/{CMakeLists.txt,debian,rsp,dll,host}
cmake -S . -B build -G Ninja -DMQBRIDGE_TESTS=OFF -DMQBRIDGE_BENCH=OFF
