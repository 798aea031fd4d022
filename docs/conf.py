# The pages as a book: ./dev docs. By Sphinx, whose search needs no server.
project = html_title = "mqbridge"
extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/**.md", "dll/README.md", "tests/README.md", "host/mpi/openmpi/packs/README.md",
                    "bench/peers/README.md"]
myst_heading_anchors = 4
html_theme = "furo"
html_copy_source = html_show_copyright = html_show_sphinx = False
