#include "tests/e2e/harness/lie.h"
#include "tests/e2e/harness/whole_stub.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace mqbridge::e2e {
namespace {

using test::Answer;

auto serves(std::string object, std::string text) {
  return [object = std::move(object), text = std::move(text)](const Liar& liar) {
    serve_text(liar.stub, object, text);
  };
}

auto serves_endless(std::string object, std::string head, std::string filler) {
  return [=](const Liar& liar) { serve_endless(liar.stub, object, head, filler); };
}

/// One byte in a packet, and always more to come.
auto trickles(std::string object, char byte) {
  return [=](const Liar& liar) {
    liar.stub.on("qXfer:" + object + ":", Answer::packet(std::string("m") + byte));
  };
}

auto auxv_with(std::uint64_t type, std::uint64_t value) {
  return [=](const Liar& liar) {
    serve_text(liar.stub, "auxv", with_auxv_value(auxiliary_vector(liar.process), type, value));
  };
}

void auxv_without_end(const Liar& liar) {
  std::string vector = auxiliary_vector(liar.process);
  vector.resize(vector.size() - sizeof(Elf64_auxv_t));
  serve_text(liar.stub, "auxv", vector);
}

std::string svr4(const std::string& content) {
  return "<library-list-svr4 version=\"1.0\">" + content + "</library-list-svr4>";
}

auto lists(std::string content) {
  return serves("libraries-svr4", svr4(content));
}

/// The libraries that are there, and `more`.
auto lists_more(std::string more) {
  return [more = std::move(more)](const Liar& liar) {
    std::string list = library_list(liar.process);
    list.insert(list.rfind("</"), more);
    serve_text(liar.stub, "libraries-svr4", list);
  };
}

std::string libraries(std::size_t count, std::uint64_t bias, std::uint64_t step) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i)
    all += library_element(fmt::format("/lib/no-such-{}.so", i), bias + i * step);
  return all;
}

/// A file of the host that must not be waited for.
auto names_a_fifo(std::string object) {
  return [object = std::move(object)](const Liar& liar) {
    const std::string path = (liar.directory / "libmpi-fifo.so").string();
    mkfifo(path.c_str(), 0600);
    if (object == "exec-file")
      return serve_text(liar.stub, object, path);
    std::string list = library_list(liar.process);
    list.insert(list.rfind("</"), library_element(path, 0x10000));
    serve_text(liar.stub, object, list);
  };
}

std::vector<Lie> in_auxv() {
  return {
      {"AuxvEmpty", serves("auxv", ""), {"auxv.corrupt"}, "makes sense in no byte order"},
      {"AuxvGarbage",
       serves("auxv", times(100, "garbage ")),
       {"auxv.corrupt"},
       "makes sense in no byte order"},
      {"AuxvWithoutNull", auxv_without_end, {}, "", Then::is_complete},
      {"AuxvWithoutEnd",
       serves_endless("auxv", "", "\1\2\3\4\5\6\7\x8"),
       {"qxfer.too_large"},
       "it has more than"},
      {"AuxvTrickles", trickles("auxv", 'a'), {"stub.trickles"}, "comes byte by byte"},
      {"AuxvOfAMillion",
       serves("auxv", times(8'000'000, "\1")),
       {"qxfer.too_large"},
       "it has more than"},
      {"AuxvHeadersOutside",
       auxv_with(AT_PHDR, 0xdead0000),
       {"target.platform"},
       "no ELF header stands before"},
      {"AuxvHeadersAtTheEnd",
       auxv_with(AT_PHDR, UINT64_MAX - 8),
       {"target.platform"},
       "no ELF header stands before"},
      {"AuxvHeadersAtNull",
       auxv_with(AT_PHDR, 0),
       {"target.platform"},
       "no ELF header stands before"},
      {"AuxvHeadersByTheThousand",
       auxv_with(AT_PHNUM, 65535),
       {"image.corrupt"},
       "claims 65535 program headers"},
      {"AuxvHeadersWithoutNumber",
       auxv_with(AT_PHNUM, UINT64_MAX),
       {"image.corrupt"},
       "claims 18446744073709551615 program headers"},
      {"AuxvNoHeaders", auxv_with(AT_PHNUM, 0), {}, "", Then::is_complete},
      {"AuxvHeaderSizeZero",
       auxv_with(AT_PHENT, 0),
       {"auxv.corrupt"},
       "makes sense in no byte order"},
      {"AuxvPageSizeHuge",
       auxv_with(AT_PAGESZ, UINT64_MAX),
       {"auxv.corrupt"},
       "makes sense in no byte order"},
      {"AuxvNoBase", auxv_with(AT_BASE, 1), {}, "", Then::is_complete},
      {"AuxvNameOutside", auxv_with(AT_EXECFN, 0x10), {}, "", Then::is_complete},
      {"AuxvStackAtTheEnd", auxv_with(AT_RANDOM, UINT64_MAX), {}, "", Then::is_complete},
  };
}

std::vector<Lie> in_exec_file() {
  return {
      {"ExecFileEmpty", serves("exec-file", ""), {}, "", Then::is_complete},
      {"ExecFileControlCharacters",
       serves("exec-file", "/bin/\x1b[2J\x07\n\r\x01"),
       {},
       "",
       Then::is_complete},
      {"ExecFileWithNul",
       serves("exec-file", std::string("/bin/sh\0/etc", 12)),
       {"stub.garbage"},
       "zero byte in it"},
      {"ExecFileOverLong",
       serves("exec-file", "/" + times(900'000, "a")),
       {"qxfer.too_large"},
       "it has more than"},
      {"ExecFileWithoutEnd",
       serves_endless("exec-file", "/bin/", "x"),
       {"qxfer.too_large"},
       "it has more than"},
      {"ExecFileTrickles", trickles("exec-file", '/'), {"stub.trickles"}, "comes byte by byte"},
      {"ExecFileUpwards",
       serves("exec-file", "/../../../../etc/passwd"),
       {"elf.not_elf"},
       "is not an ELF file"},
      {"ExecFileRelative", serves("exec-file", "../../etc/passwd"), {}, "", Then::is_complete},
      {"ExecFileOfZeros", serves("exec-file", "/dev/zero"), {}, "", Then::is_complete},
      {"ExecFileADirectory", serves("exec-file", "/"), {}, "", Then::is_complete},
      {"ExecFileAFifo", names_a_fifo("exec-file"), {}, "", Then::is_complete},
      {"ExecFileAnotherProgram",
       serves("exec-file", "/bin/true"),
       {"image.build_id"},
       "is another build"},
      {"ExecFileNoText", serves("exec-file", "\xff\xfe\xfd"), {}, "", Then::is_complete},
  };
}

std::vector<Lie> in_description() {
  const std::string self = "<target><xi:include href=\"target.xml\"/></target>";
  return {
      {"DescriptionIncludesItself", serves("features", self), {}, "", Then::is_complete},
      {"DescriptionNoXml", serves("features", "<target"), {}, "", Then::is_complete},
      {"DescriptionOfAnother",
       serves("features", "<target><architecture>s390:64-bit</architecture></target>"),
       {"target.platform"},
       "target description says"},
      {"DescriptionNestsDeeply",
       serves("features", times(100'000, "<target>")),
       {},
       "",
       Then::is_complete},
      {"DescriptionIncludesAMillion",
       serves("features", "<target>" + times(200'000, "<xi:include href=\"a\"/>") + "</target>"),
       {"qxfer.too_large"},
       "it has more than"},
      {"DescriptionIncludesAPacketEnd",
       serves("features", "<target><xi:include href=\"a#00$k#6b\"/></target>"),
       {},
       "",
       Then::is_complete},
      {"DescriptionWithoutEnd",
       serves_endless("features", "<target>", " "),
       {"qxfer.too_large"},
       "it has more than"},
      {"DescriptionTrickles", trickles("features", '<'), {"stub.trickles"}, "comes byte by byte"},
  };
}

std::string billion_laughs() {
  std::string entities = "<!DOCTYPE l [<!ENTITY a0 \"ha\">";
  for (int i = 1; i < 30; ++i)
    entities += fmt::format("<!ENTITY a{} \"{}\">", i, times(10, fmt::format("&a{};", i - 1)));
  return entities + "]>" + svr4("<library name=\"&a29;\" l_addr=\"0x10\"/>");
}

std::vector<Lie> in_library_xml() {
  constexpr std::size_t million = 1'000'000;
  return {
      {"LibrariesEmpty",
       serves("libraries-svr4", ""),
       {"libraries.corrupt"},
       "is not the XML it should be"},
      {"LibrariesNoXml",
       serves("libraries-svr4", "libc.so.6"),
       {"libraries.corrupt"},
       "is not the XML it should be"},
      {"LibrariesCut",
       serves("libraries-svr4", "<library-list-svr4><library name=\"/a"),
       {"libraries.corrupt"},
       "is not the XML it should be"},
      {"LibrariesBillionLaughs",
       serves("libraries-svr4", billion_laughs()),
       {"types.missing"},
       "has no DWARF"},
      {"LibrariesNestDeeply",
       serves("libraries-svr4", times(100'000, "<library>")),
       {"libraries.corrupt"},
       "is not the XML it should be"},
      {"LibrariesNestVeryDeeply",
       serves("libraries-svr4", times(million, "<a>")),
       {"libraries.corrupt"},
       "is not the XML it should be"},
      {"LibrariesAMillionAttributes",
       lists("<library " + times(million, "a=\"\" ") + "l_addr=\"0x1\"/>"),
       {"libraries.corrupt"},
       "more than 1000000 elements"},
      {"LibrariesBlanks",
       serves_endless("libraries-svr4", "<library-list-svr4>", " "),
       {"qxfer.too_large"},
       "it has more than"},
      {"LibrariesComments",
       serves_endless("libraries-svr4", "<!--", "-"),
       {"qxfer.too_large"},
       "it has more than"},
      {"LibrariesWithoutEnd",
       serves_endless("libraries-svr4", "<library-list-svr4>", "<a/>"),
       {"qxfer.too_large"},
       "it has more than"},
      {"LibrariesTrickle",
       trickles("libraries-svr4", ' '),
       {"stub.trickles"},
       "comes byte by byte"},
      {"LibrariesSayMoreAndGiveNothing",
       [](const Liar& liar) { liar.stub.on("qXfer:libraries-svr4:", Answer::packet("m")); },
       {"stub.garbage"},
       "says that more follows"},
      {"LibrariesFailInTheMiddle",
       [](const Liar& liar) {
         serve_made_up(liar.stub, "libraries-svr4", [](std::size_t offset, std::size_t length) {
           return offset == 0 ? std::string(length, ' ') : std::string();
         });
       },
       {"libraries.corrupt"},
       "is not the XML it should be"},
  };
}

std::vector<Lie> in_libraries() {
  return {
      {"NoLibraries", lists(""), {"target.not_started"}, "is stopped before its libraries"},
      {"LibraryWithoutBias",
       lists_more("<library name=\"/lib/x.so\"/>"),
       {"libraries.corrupt"},
       "without l_addr"},
      {"LibraryWithBiasGarbage",
       lists_more("<library name=\"/lib/x.so\" l_addr=\"here\"/>"),
       {},
       "",
       Then::is_complete},
      {"LibraryWithoutName",
       lists_more("<library l_addr=\"0x10000\"/>"),
       {},
       "",
       Then::is_complete},
      {"LibraryAtUnmappedMemory",
       lists_more(library_element("/lib/x.so", 0x10000)),
       {},
       "",
       Then::is_complete},
      {"LibraryAtTheEnd",
       lists_more(library_element("/lib/x.so", UINT64_MAX)),
       {},
       "",
       Then::is_complete},
      {"LibraryOverLongName",
       lists_more(library_element("/" + times(900'000, "a"), 0x1000)),
       {"libraries.corrupt"},
       "with a name of"},
      {"LibraryControlCharacters",
       lists_more(library_element("/lib/&#27;[2J&#7;.so", 0x10)),
       {},
       "",
       Then::is_complete},
      {"LibraryUpwards",
       lists_more(library_element("/../../etc/passwd", 0x10000)),
       {},
       "",
       Then::is_complete},
      {"LibraryOfZeros",
       lists_more(library_element("/dev/zero", 0x10000)),
       {},
       "",
       Then::is_complete},
      {"LibraryAFifo", names_a_fifo("libraries-svr4"), {}, "", Then::is_complete},
      {"SameLibraryAThousandTimes",
       lists_more(times(1000, library_element("/lib/x.so", 0x10))),
       {},
       "",
       Then::is_complete},
      {"LibrariesInACircle", lists_more(libraries(2000, 0x10000, 0)), {}, "", Then::is_complete},
      {"LibrariesByTheThousand",
       lists_more(libraries(16'000, 0x10000, 0x1000)),
       {"libraries.corrupt"},
       "lists more than 4096"},
      {"LibrariesByTheHundredThousand",
       lists(libraries(100'000, 0x10000, 0x1000)),
       {"libraries.corrupt"},
       "lists more than 4096"},
      {"LibrariesByTheMillion",
       lists(libraries(1'000'000, 0x10000, 0x1000)),
       {"qxfer.too_large"},
       "it has more than"},
  };
}

} // namespace

std::vector<Lie> lies_in_objects() {
  std::vector<Lie> all = in_auxv();
  for (auto& more : {in_exec_file(), in_description(), in_library_xml(), in_libraries()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

} // namespace mqbridge::e2e
