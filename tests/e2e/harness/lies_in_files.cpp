#include "tests/e2e/harness/lie.h"

#include <charconv>
#include <fmt/format.h>

namespace mqbridge::e2e {
namespace {

using test::Answer;

std::uint64_t asked_length(std::string_view payload) {
  const std::string_view rest = payload.substr(payload.find(',') + 1);
  std::uint64_t length = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), length, 16);
  return length;
}

/// `filler` for ever, in whatever file.
auto reads(std::string filler) {
  return [filler = std::move(filler)](const Liar& liar) {
    liar.stub.on("vFile:pread:", [filler](std::string_view payload) {
      const std::uint64_t length = asked_length(payload);
      return Answer::packet(fmt::format(
          "F{:x};{}", length, times(length / filler.size() + 1, filler).substr(0, length)));
    });
  };
}

} // namespace

std::vector<Lie> lies_in_files() {
  return {
      {"FileCountWrong", answers("vFile:pread:", "F10;short"), {}, "", Then::is_complete},
      {"FileCountMissing", answers("vFile:pread:", "F"), {}, "", Then::is_complete},
      {"FileCountHuge", answers("vFile:pread:", "Fffffffffffffffff;"), {}, "", Then::is_complete},
      {"FileErrorGarbage", answers("vFile:pread:", "F-1,zz"), {}, "", Then::is_complete},
      {"FileErrorEndless",
       answers("vFile:pread:", "F-1,7fffffffffffffff;x"),
       {},
       "",
       Then::is_complete},
      {"FileMoreThanAsked",
       [](const Liar& liar) {
         liar.stub.on("vFile:pread:", [](std::string_view payload) {
           const std::uint64_t length = asked_length(payload) + 1;
           return Answer::packet(fmt::format("F{:x};{}", length, std::string(length, 'a')));
         });
       },
       {},
       "",
       Then::is_complete},
      {"FileDescriptorHuge",
       answers("vFile:open:", "F7fffffffffffffff"),
       {},
       "",
       Then::is_complete},
      {"FileDescriptorNegative",
       answers("vFile:open:", "F-7fffffffffffffff,d"),
       {},
       "",
       Then::is_complete},
      {"FileOpenGarbage", answers("vFile:open:", "open"), {}, "", Then::is_complete},
      {"FileWithoutEnd", reads("a"), {}, "", Then::is_complete},
      {"FileOfLines", reads("7f00-8000 rw-p 0 0:0 0\n"), {}, "", Then::is_complete},
      {"FileOfVariables",
       reads(std::string("OMPI_COMM_WORLD_RANK=-1\0", 24)),
       {},
       "",
       Then::is_complete},
      {"FileOfZeros", reads(std::string(1, '\0')), {}, "", Then::is_complete},
      {"FileTrickles", answers("vFile:pread:", "F1;a"), {}, "", Then::is_complete},
      {"FileTricklesZeros",
       answers("vFile:pread:", std::string("F1;\0", 4)),
       {},
       "",
       Then::is_complete},
      {"FileEmpty", answers("vFile:pread:", "F0;"), {}, "", Then::is_complete},
  };
}

} // namespace mqbridge::e2e
