# A recipe for Spack 1.0 or later. NOT TRIED in Spack itself: its names, versions and variants were compared with Spack's own recipes (July
# 2026), and no more. It belongs into a repository of the site's own, as packages/mqbridge/package.py.

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Mqbridge(CMakePackage):
    """Says why an MPI job hangs: which ranks wait for each other, in which MPI call, at which line."""

    # TO BE FILLED IN: no address of the project is known here. Until there is one (then add homepage, and url with the checksum of each
    # release), this is the path of a checkout.
    git = "file:///path/to/mqbridge"

    license("Apache-2.0")

    version("main", branch="main")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")

    # Those of docs/building.md, from the versions of Debian 12 on, fmt and libdwarf no newer than Debian 13's. Headers alone, found by CMake:
    depends_on("cli11@2.1.2:", type="build")
    depends_on("nlohmann-json@3.11.2:", type="build")
    depends_on("tl-expected@1.0.0:", type="build")
    depends_on("tomlplusplus@3.4.0:", type="build")
    # Headers as well, but not looked for: Spack's compilers know the folders of what is linked.
    depends_on("asio@1.22.1:")
    # Libraries. Without debuginfod elfutils lacks a header that the build needs; libdebuginfod itself is loaded only where it is asked.
    depends_on("elfutils@0.188: +debuginfod")
    depends_on("libmicrohttpd")  # loaded by `mqbridge serve` alone
    depends_on("fmt@9.1:10")
    depends_on("libdwarf@:0")
    depends_on("libseccomp@2.5.4: ~python")
    depends_on("pugixml@1.13:")
    depends_on("zlib-api")

    requires("platform=linux")
    conflicts("%gcc@:11", msg="it takes C++20")

    # Man pages are not made: Spack has no lowdown. Recorders are made for each MPI afterwards: mqbridge recorder make --mpicc MPICC.
    def cmake_args(self):
        return [
            self.define("MQBRIDGE_BENCH", False),
            self.define("MQBRIDGE_TESTS", False),
            self.define("MQBRIDGE_UNITY", True),
            self.define("MQBRIDGE_WERROR", False),
        ]
