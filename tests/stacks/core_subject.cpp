#include "tests/stacks/core_subject.h"

#include "host/confined/confined_process.h"
#include "host/process/core/core_process.h"
#include "tests/support/child_process.h"
#include "tests/support/core_files.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>
#include <sstream>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

std::string output_of(const std::vector<std::string>& command) {
  ChildProcess process({command});
  const auto ending = process.wait(120s);
  EXPECT_TRUE(ending && ending->code == 0) << command[0] << ": " << process.err();
  return process.out();
}

} // namespace

std::vector<std::string> keepers(const UnwoundThread& thread, std::uint64_t value) {
  std::vector<std::string> functions;
  for (const auto& kept : thread.kept) {
    auto frame = thread.stack.frames.at(kept.frame);
    for (auto i = kept.frame; frame.inlined; ++i)
      frame = thread.stack.frames.at(i + 1);
    if (kept.value == value)
      functions.push_back(frame.function.value_or(""));
  }
  return functions;
}

UnwindOptions unwind_options() {
  UnwindOptions options;
  options.program = sandbox::beside_this_program("mqbridge-unwinder");
  return options;
}

void compile(const SubjectBuild& build, const std::string& program) {
  auto command = build.compiler;
  if (build.source.ends_with(".f90"))
    command.insert(command.end(), {"-J", std::filesystem::path(program).parent_path().string()});
  command.insert(command.end(), {"-o", program, MQBRIDGE_STACK_SUBJECTS "/" + build.source});
  output_of(command);
}

std::vector<Place> places_in(const std::string& output) {
  std::vector<Place> places;
  std::istringstream words(output);
  for (Place place; words >> place.first >> place.second;)
    places.insert(places.begin(), place);
  return places;
}

std::vector<UnwoundThread> unwind_process(Result<std::unique_ptr<ProcessSource>> source,
                                          ElfCache& files, const UnwindOptions& options,
                                          Warnings& warnings, const Change& change) {
  if (!source) {
    ADD_FAILURE() << source.error().message;
    return {};
  }
  auto process = StoppedProcess::open(std::move(*source), files);
  if (!process) {
    ADD_FAILURE() << process.error().message;
    return {};
  }
  const auto loaded = (*process)->load_images(warnings);
  EXPECT_TRUE(loaded) << loaded.error().message;
  CaptureOptions all;
  all.patience = 10s; // however busy the computer is
  auto captured = capture_stacks(**process, all);
  if (!captured) {
    ADD_FAILURE() << captured.error().message;
    return {};
  }
  auto images = (*process)->images().images();
  if (change)
    change(*captured, images);
  auto threads = mqbridge::unwind(*captured, images, (*process)->platform(), options, warnings);
  EXPECT_TRUE(threads) << threads.error().message;
  return threads ? std::move(*threads) : std::vector<UnwoundThread>();
}

CoreSubject::CoreSubject(const SubjectBuild& build, const std::string& kind)
    : program_(directory_ / "subject"), sysroots_(build.sysroots) {
  compile(build, program_);
  auto run = build.emulator;
  run.insert(run.end(), {program_, kind});
  const auto directory = directory_.path();
  ChildProcess process(leaving_cores({run}, directory, !build.emulator.empty()));
  const auto ending = process.wait(60s);
  EXPECT_TRUE(ending && ending->code != 127) << process.err();
  core_ = core_in(directory, !build.emulator.empty()).string();
  EXPECT_FALSE(core_.empty()) << process.out() << process.err();
  said_ = places_in(process.out());
}

std::vector<UnwoundThread> CoreSubject::unwind(const UnwindOptions& options, Warnings& warnings,
                                               const Change& change) const {
  ElfCache files(FilePaths{{sysroots_.begin(), sysroots_.end()}});
  return unwind_process(CoreProcess::open({core_, program_}, core_, files), files, options,
                        warnings, change);
}

std::vector<UnwoundThread> CoreSubject::unwind() const {
  Warnings warnings;
  auto threads = unwind(unwind_options(), warnings);
  for (const auto& warning : warnings)
    ADD_FAILURE() << warning.code << ": " << warning.message;
  return threads;
}

std::vector<Place> CoreSubject::gdb() const {
  const auto text = output_of({"gdb", "-nx", "-batch", "-ex", "set width 0", "-ex",
                               "set print frame-arguments none", "-ex", "set print entry-values no",
                               "-ex", "bt", program_, core_});
  static const std::regex frame(R"(^#[0-9]+ +(?:0x[0-9a-f]+ in )?(.+?)(?: \(.*\))?)"
                                R"((?: (?:at|from) ([^:\n]+)(?::([0-9]+))?)?$)");
  std::vector<Place> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (std::smatch match; line.starts_with("#") && std::regex_match(line, match, frame))
      found.emplace_back(match[1], match[3].matched ? std::stoll(match[3]) : 0);
  return found;
}

std::vector<Place> places(const ThreadStack& stack) {
  std::vector<Place> found;
  for (const auto& frame : stack.frames)
    found.emplace_back(frame.function.value_or("??"), frame.line.value_or(0));
  return found;
}

std::vector<Place> own(const std::vector<Place>& places, const std::vector<Place>& said) {
  const auto is_own = [&](const Place& place) {
    return std::ranges::any_of(said, [&](const Place& each) { return each.first == place.first; });
  };
  std::vector<Place> found;
  std::ranges::copy_if(places, std::back_inserter(found), is_own);
  return found;
}

} // namespace mqbridge::test
