#include "tests/e2e/harness/lie.h"

#include <fmt/format.h>
#include <memory>

namespace mqbridge::e2e {
namespace {

using test::Answer;

constexpr std::string_view abilities =
    ";QStartNoAckMode+;multiprocess+;qXfer:auxv:read+;qXfer:exec-file:read+;"
    "qXfer:libraries-svr4:read+";

auto announces(std::string_view packet_size) {
  return answers("qSupported", fmt::format("PacketSize={}{}", packet_size, abilities));
}

/// The same to whatever is asked.
auto says_always(std::string payload) {
  return [payload = std::move(payload)](const Liar& liar) {
    liar.stub.tamper(
        [payload](std::size_t, std::string_view, Answer) { return Answer::packet(payload); });
  };
}

/// As told from the first question about the process on.
auto says_once_it_is_stopped(std::string payload) {
  return [payload = std::move(payload)](const Liar& liar) {
    const auto stopped = std::make_shared<bool>(false);
    liar.stub.tamper([payload, stopped](std::size_t, std::string_view asked, Answer honest) {
      Answer said = *stopped ? Answer::packet(payload) : std::move(honest);
      *stopped = *stopped || asked == "?";
      return said;
    });
  };
}

void echoes(const Liar& liar) {
  liar.stub.tamper(
      [](std::size_t, std::string_view asked, Answer) { return Answer::packet(asked); });
}

void answers_one_behind(const Liar& liar) {
  const auto before = std::make_shared<Answer>(Answer::packet("OK"));
  liar.stub.tamper([before](std::size_t index, std::string_view, Answer honest) {
    constexpr std::size_t negotiation = 6;
    Answer late = std::exchange(*before, honest);
    return index < negotiation ? honest : late;
  });
}

/// qfThreadInfo and qsThreadInfo.
auto lists_threads(std::function<std::string(std::size_t page)> page) {
  return [page = std::move(page)](const Liar& liar) {
    liar.stub.on("!", Answer::packet("OK"));
    const auto pages = std::make_shared<std::size_t>(0);
    const auto next = [page, pages](std::string_view) { return Answer::packet(page((*pages)++)); };
    liar.stub.on("qfThreadInfo", next);
    liar.stub.on("qsThreadInfo", next);
  };
}

auto describes_threads(std::string xml) {
  return [xml = std::move(xml)](const Liar& liar) {
    liar.stub.on("!", Answer::packet("OK"));
    serve_text(liar.stub, "threads", xml);
  };
}

std::vector<Lie> about_features() {
  return {
      {"PacketSizeZero", announces("0"), {}, "", Then::is_complete},
      {"PacketSizeOne", announces("1"), {}, "", Then::is_complete},
      {"PacketSizeOf64Bits", announces("8000000000000000"), {}, "", Then::is_complete},
      {"PacketSizeBeyond64Bits", announces("ffffffffffffffffffff"), {}, "", Then::is_complete},
      {"PacketSizeNegative", announces("-1"), {}, "", Then::is_complete},
      {"PacketSizeGarbage", announces("many"), {}, "", Then::is_complete},
      {"PacketSizeMissing", announces(""), {}, "", Then::is_complete},
      {"FeaturesTwice",
       announces("4000;PacketSize=0;PacketSize=4000;PacketSize"),
       {},
       "",
       Then::is_complete},
      {"FeaturesByTheThousand",
       announces("4000;" + times(50'000, "no-such+;")),
       {},
       "",
       Then::is_complete},
      {"FeaturesWithoutEnd", announces(times(1'200'000, ";")), {"stub.too_long"}, "is longer than"},
      {"FeaturesRefused",
       answers("qSupported", "E01"),
       {"target.platform"},
       "gives no auxiliary vector"},
      {"NoAckModeAnnouncedAndRefused",
       answers("QStartNoAckMode", "E01"),
       {"stub.garbage"},
       "answers 'E01'"},
  };
}

std::vector<Lie> about_everything() {
  return {
      {"ErrorToEverything", says_always("E01"), {"stub.garbage"}, "is no stop reply"},
      {"NothingToEverything", says_always(""), {"stub.garbage"}, "is no stop reply"},
      {"OkToEverything", says_always("OK"), {"stub.garbage"}, "is no stop reply"},
      {"Echo", echoes, {"stub.not_a_stub"}, "echoes"},
      {"OneAnswerBehind", answers_one_behind, {"stub.garbage"}, "QStartNoAckMode"},
      {"ErrorsOnceItIsStopped",
       says_once_it_is_stopped("E01"),
       {"stub.garbage"},
       "lost count of its replies"},
      {"NothingOnceItIsStopped", says_once_it_is_stopped(""), {"stub.garbage"}, "QStartNoAckMode"},
      {"OkOnceItIsStopped", says_once_it_is_stopped("OK"), {"stub.garbage"}, "answered 'OK'"},
      {"StopsOnceItIsStopped",
       says_once_it_is_stopped("T05thread:p1.1;"),
       {"stub.garbage"},
       "lost count of its replies"},
      {"ExitsOnceItIsStopped",
       says_once_it_is_stopped("W00;process:1267"),
       {"stub.garbage"},
       "lost count of its replies"},
  };
}

std::vector<Lie> about_its_stop() {
  return {
      {"HasExited", answers("?", "W00"), {"attach.exited"}, "has ended"},
      {"WasKilled", answers("?", "X09"), {"attach.exited"}, "has ended"},
      {"HasNothing", answers("?", "N"), {"attach.exited"}, "has ended"},
      {"StopReplyGarbage", answers("?", "Tzz"), {"stub.garbage"}, "is no stop reply"},
      {"StopReplyCut", answers("?", "T"), {"stub.garbage"}, "is no stop reply"},
      {"StopReplyOfAllProcesses", answers("?", "T05thread:p-1.-1;"), {}, "", Then::is_complete},
      {"StopReplyWithAThousandFields",
       answers("?", "T05" + times(50'000, "a:b;")),
       {},
       "",
       Then::is_complete},
      {"StopReplyOfAHugeProcess",
       answers("?", "T05thread:pffffffffffffffff.1;"),
       {},
       "",
       Then::is_complete},
      {"DetachRefused", answers("D", "E01"), {"detach.refused"}, "answered 'E01'"},
      {"DetachGarbage", answers("D", "perhaps"), {"detach.refused"}, "answered 'perhaps'"},
  };
}

std::vector<Lie> about_threads() {
  const std::string pid = "@4711";
  return {
      {"ThreadsWithoutEnd",
       lists_threads([](std::size_t page) { return fmt::format("mp1.{:x}", page + 1); }),
       {"stub.garbage"},
       "does not end within",
       Then::fails,
       pid},
      {"ThreadsThatRepeat",
       lists_threads([](std::size_t) { return "mp1.1,p1.2"; }),
       {"stub.garbage"},
       "begins again",
       Then::fails,
       pid},
      {"ThreadsGarbage",
       lists_threads([](std::size_t) { return "mone,two"; }),
       {"stub.garbage"},
       "is no thread",
       Then::fails,
       pid},
      {"ThreadsGoOnWithoutAny",
       lists_threads([](std::size_t) { return "m"; }),
       {"stub.garbage"},
       "goes on without",
       Then::fails,
       pid},
      {"ThreadsNoXml",
       describes_threads("threads"),
       {"stub.garbage"},
       "is no XML",
       Then::fails,
       pid},
      {"ThreadsByTheMillion",
       describes_threads("<threads>" + times(1'000'000, "<thread id=\"p1.1\"/>") + "</threads>"),
       {"qxfer.too_large"},
       "it has more than",
       Then::fails,
       pid},
      {"ThreadsWithoutIds",
       describes_threads("<threads><thread/></threads>"),
       {"stub.garbage"},
       "is no thread",
       Then::fails,
       pid},
  };
}

} // namespace

std::vector<Lie> lies_about_itself() {
  std::vector<Lie> all = about_features();
  for (auto& more : {about_everything(), about_its_stop(), about_threads()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

} // namespace mqbridge::e2e
