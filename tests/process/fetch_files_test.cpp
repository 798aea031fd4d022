// Files that this host lacks, or has another build of, read from a real gdbserver.

#include "host/disk/command_output.h"
#include "host/files/file_fetcher.h"
#include "host/process/live/live_process.h"
#include "host/process/stopped_process.h"
#include "rsp/commands/attach.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/trace.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_programs.h"

#include <atomic>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <link.h>
#include <sys/stat.h>
#include <thread>
#include <utility>

namespace mqbridge::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

auto has_code(std::string_view code) {
  return Contains(Field(&Error::code, code));
}

/// A process whose program, and a library by an MPI's name, are in a directory of their own.
class FetchFiles : public testing::Test {
protected:
  FetchFiles() {
    fs::create_directories(node_);
    fs::create_directories(sysroot_);
    fs::copy_file(inferior_program(), program_);
    compile("int mqbridge_test_symbol = 1;", library_);
  }

  void compile(const std::string& source, const fs::path& library,
               const std::string& build_id = "--build-id") const {
    const auto ran =
        run_command({MQBRIDGE_TEST_CC, "-shared", "-fPIC", "-nostdlib", "-Wl," + build_id, "-x",
                     "c", "-o", library.string(), write(source).string()},
                    std::chrono::seconds(60));
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_EQ(ran->exit_status, 0) << ran->text;
  }
  fs::path write(const std::string& text) const {
    auto path = directory_ / "source.c";
    std::ofstream(path) << text;
    return path;
  }

  std::unique_ptr<GdbServer> serve(ServerMode mode = ServerMode::attach_once) const {
    return serve(library_, mode);
  }
  std::unique_ptr<GdbServer> serve(const fs::path& library,
                                   ServerMode mode = ServerMode::attach_once) const {
    return std::make_unique<GdbServer>(
        mode, ChildSpec{{program_.string()}, {{"LD_PRELOAD", library.string()}}});
  }

  /// What one look at the process found.
  struct Look {
    Result<ImageSet> images = fail("test", "not looked");
    Warnings warnings;

    const Image* image(std::string_view name) const {
      return images ? images->find_by_name(name) : nullptr;
    }
  };

  Look look(const GdbServer& server, FileFetcher* fetcher, const FilePaths& paths,
            std::optional<std::chrono::milliseconds> time = std::nullopt) const {
    const auto client = connected(server.endpoint());
    return client ? look(*client, fetcher, paths, time) : Look{};
  }
  Look look(rsp::Client& client, FileFetcher* fetcher, const FilePaths& paths,
            std::optional<std::chrono::milliseconds> time = std::nullopt) const {
    Look look;
    ElfCache files(paths);
    const auto attachment = rsp::attach(client);
    EXPECT_TRUE(attachment) << attachment.error().message;
    ProcessOptions options;
    options.mpi_libraries = LibraryNames({"libmpi"});
    options.transport_libraries = LibraryNames({"libucp.so"});
    options.fetch.fetcher = fetcher;
    if (time)
      options.fetch.deadline = std::chrono::steady_clock::now() + *time;
    auto target =
        StoppedProcess::open(std::make_unique<LiveProcess>(client, *attachment), files, options);
    EXPECT_TRUE(target) << target.error().message;
    if (!target)
      return look;
    if (auto loaded = (*target)->load_images(look.warnings); !loaded)
      look.images = forward(std::move(loaded));
    else
      look.images = std::move((*target)->images());
    EXPECT_TRUE((*target)->release());
    return look;
  }
  Look look(FileFetcher& fetcher, std::optional<std::chrono::milliseconds> time = {}) const {
    return look(*serve(), &fetcher, {.sysroots = {sysroot_}}, time);
  }

  FileFetcher fetcher(FetchMode mode,
                      std::function<bool(const FetchQuestion&)> ask = nullptr) const {
    return FileFetcher({mode, std::move(ask)}, store_);
  }
  bool in_store(const Image* image) const {
    return image != nullptr && image->file && image->file->path().parent_path() == store_;
  }

  TempDirectory directory_;
  fs::path node_ = directory_ / "node";
  fs::path program_ = node_ / "program";
  fs::path library_ = node_ / "libmpi_test.so";
  fs::path sysroot_ = directory_ / "sysroot"; ///< empty
  fs::path store_ = directory_ / "cache/mqbridge/files";
};

TEST_F(FetchFiles, WhatMattersIsReadOnceAndKept) {
  auto always = fetcher(FetchMode::always);
  const auto first = look(always);
  ASSERT_TRUE(first.images) << first.images.error().message;
  EXPECT_TRUE(in_store(first.image("program")));
  EXPECT_TRUE(in_store(first.image("libmpi_test.so")));
  EXPECT_EQ(first.image("libmpi_test.so")->file->find_symbol("mqbridge_test_symbol") != nullptr,
            true);
  ASSERT_NE(first.image("libc.so"), nullptr);
  EXPECT_EQ(first.image("libc.so")->file, nullptr) << "nobody asks it anything";
  EXPECT_THAT(first.warnings, IsEmpty());

  auto never = fetcher(FetchMode::never);
  const auto second = look(never);
  ASSERT_TRUE(second.images);
  EXPECT_TRUE(in_store(second.image("program")));
  EXPECT_TRUE(in_store(second.image("libmpi_test.so")));
}

/// A process of another transport has it, too: nobody misses it there.
TEST_F(FetchFiles, WhatCarriesMessagesComesAlongAndIsNotMissed) {
  const auto ucx = node_ / "libucp.so.0";
  compile("int ucp_test_symbol = 1;", ucx);
  const auto server = serve(library_.string() + ":" + ucx.string());
  const FilePaths nowhere = {.sysroots = {sysroot_}};
  auto never = fetcher(FetchMode::never);
  const auto without = look(*server, &never, nowhere);
  ASSERT_TRUE(without.images) << without.images.error().message;
  for (const Error& warning : without.warnings)
    EXPECT_THAT(warning.message, Not(HasSubstr("libucp"))) << warning.code;
  auto always = fetcher(FetchMode::always);
  const auto with = look(*serve(library_.string() + ":" + ucx.string()), &always, nowhere);
  ASSERT_TRUE(with.images) << with.images.error().message;
  EXPECT_TRUE(in_store(with.image("libucp.so.0")));
}

TEST_F(FetchFiles, ACLibraryOfAnotherBuildThanHereComesAlong) {
  const auto theirs = node_ / "libc-test.so";
  const auto ours = sysroot_ / theirs.relative_path();
  fs::create_directories(ours.parent_path());
  compile("int one = 1;", theirs);
  compile("int other = 2;", ours);
  const auto server = serve(library_.string() + ":" + theirs.string());
  auto always = fetcher(FetchMode::always);
  const auto seen = look(*server, &always, {.sysroots = {sysroot_}});
  ASSERT_TRUE(seen.images) << seen.images.error().message;
  EXPECT_TRUE(in_store(seen.image("libmpi_test.so")));
  EXPECT_TRUE(in_store(seen.image("libc-test.so")));
}

TEST_F(FetchFiles, NeverReadsNothing) {
  auto never = fetcher(FetchMode::never);
  const auto seen = look(never);
  ASSERT_TRUE(seen.images) << seen.images.error().message;
  EXPECT_EQ(seen.image("program")->file, nullptr);
  EXPECT_THAT(seen.warnings, has_code("image.missing"));
  EXPECT_FALSE(fs::exists(store_)) << "made for nothing";
}

TEST_F(FetchFiles, TheQuestionSaysHowMuchAndTheAnswerCounts) {
  for (const bool answer : {true, false}) {
    FetchQuestion asked;
    int times = 0;
    auto asking = fetcher(FetchMode::ask, [&](const FetchQuestion& question) {
      asked = question;
      ++times;
      return answer;
    });
    fs::remove_all(store_);
    const auto first = look(asking);
    ASSERT_TRUE(first.images) << first.images.error().message;
    EXPECT_EQ(asked.bytes, fs::file_size(program_) + fs::file_size(library_));
    EXPECT_THAT(asked.files, testing::UnorderedElementsAre(program_.string(), library_.string()));
    EXPECT_THAT(asked.endpoint, HasSubstr("127.0.0.1:"));
    EXPECT_EQ(in_store(first.image("program")), answer);
    if (!answer) {
      EXPECT_THAT(first.warnings, has_code("fetch.refused"));
      EXPECT_FALSE(look(asking).image("program")->file);
    }
    EXPECT_EQ(times, 1) << "asked again";
  }
}

TEST_F(FetchFiles, WithoutATerminalTheOptionIsNamed) {
  auto nobody = fetcher(FetchMode::ask);
  const auto seen = look(nobody);
  ASSERT_TRUE(seen.images) << seen.images.error().message;
  EXPECT_EQ(seen.image("program")->file, nullptr);
  ASSERT_THAT(seen.warnings, has_code("fetch.not_asked"));
  EXPECT_THAT(seen.warnings[0].hint, HasSubstr("--fetch-files always"));
  EXPECT_THAT(seen.warnings[0].hint, HasSubstr("--sysroot"));
}

TEST_F(FetchFiles, NoLongerThanTheTargetMayBeHeld) {
  // 64 MB over loopback take some hundred milliseconds; there are none left then.
  compile(fmt::format("char mqbridge_test_symbol[{}] = {{1}};", 64'000'000), library_);
  auto always = fetcher(FetchMode::always);
  const auto seen = look(always, std::chrono::milliseconds(150));
  const bool said = testing::Value(seen.warnings, has_code("fetch.too_long"));
  const bool cut = !seen.images && seen.images.error().code == "stop.limit";
  EXPECT_TRUE(said || cut);
  if (said) {
    EXPECT_THAT(seen.warnings[0].hint, HasSubstr("--max-stop"));
  }
  EXPECT_FALSE(in_store(seen.image("libmpi_test.so")));
}

TEST_F(FetchFiles, AProgramThatWasReplacedSinceIsReadFromTheProcess) {
  const auto server = serve();
  const auto old_id = (*ElfFile::open(program_))->build_id();
  fs::remove(program_);
  compile("int other = 2;", program_);
  const auto new_id = (*ElfFile::open(program_))->build_id();

  auto always = fetcher(FetchMode::always);
  const auto read = look(*server, &always, {});
  ASSERT_TRUE(read.images) << read.images.error().message;
  ASSERT_TRUE(in_store(read.image("program")));
  EXPECT_EQ(read.image("program")->file->build_id(), old_id);
  EXPECT_NE(new_id, old_id);
}

TEST_F(FetchFiles, AnotherBuildOfWhatMattersIsAnErrorThatNamesBoth) {
  const auto in_sysroot = sysroot_ / library_.relative_path();
  fs::create_directories(in_sysroot.parent_path());
  compile("int other = 2;", in_sysroot);
  const auto ours = (*ElfFile::open(in_sysroot))->build_id();
  const auto theirs = (*ElfFile::open(library_))->build_id();

  auto never = fetcher(FetchMode::never);
  const auto refused = look(never);
  ASSERT_FALSE(refused.images);
  const auto& error = refused.images.error();
  EXPECT_EQ(error.code, "image.build_id");
  for (const auto& part : {in_sysroot.string(), library_.string(), ours, theirs})
    EXPECT_THAT(error.message, HasSubstr(part));
  EXPECT_THAT(error.hint, HasSubstr("--sysroot"));

  auto always = fetcher(FetchMode::always);
  const auto mended = look(always);
  ASSERT_TRUE(mended.images) << mended.images.error().message;
  EXPECT_EQ(mended.image("libmpi_test.so")->file->build_id(), theirs);

  // A second sysroot has the right one.
  fs::remove_all(store_);
  const auto second = look(*serve(), &never, {.sysroots = {sysroot_, "/"}});
  ASSERT_TRUE(second.images) << second.images.error().message;
  EXPECT_EQ(second.image("libmpi_test.so")->file->path(), library_);
}

/// Whether the kernel lets us open what a process has mapped (CAP_CHECKPOINT_RESTORE).
bool may_open_mappings(pid_t pid) {
  for (const auto& mapping : fs::directory_iterator(fmt::format("/proc/{}/map_files", pid)))
    return FileDescriptor(::open(mapping.path().c_str(), O_RDONLY | O_CLOEXEC)) ? true : false;
  return false;
}

// Whoever opens a FIFO that nobody writes to waits for ever: the stub, and with it the target.
TEST_F(FetchFiles, WhatHasTheNameOfALibraryNowIsNotEvenOpened) {
  const auto old_id = (*ElfFile::open(library_))->build_id();
  for (const bool fifo : {true, false}) {
    compile("int mqbridge_test_symbol = 1;", library_);
    const auto server = serve();
    fs::remove(library_);
    if (fifo)
      ASSERT_EQ(::mkfifo(library_.c_str(), 0666), 0);
    else
      compile("int other = 2;", library_);
    fs::remove_all(store_);
    auto always = fetcher(FetchMode::always);
    const auto seen = look(*server, &always, {.sysroots = {sysroot_}});
    ASSERT_TRUE(seen.images) << seen.images.error().message;
    const auto& file = seen.image("libmpi_test.so")->file;
    if (may_open_mappings(server->inferior())) {
      ASSERT_TRUE(file);
      EXPECT_EQ(file->build_id(), old_id);
    } else {
      EXPECT_FALSE(file);
      EXPECT_THAT(seen.warnings, has_code("vfile.replaced"));
    }
    EXPECT_TRUE(runs_within(server->inferior(), std::chrono::seconds(5))) << "it is held";
    fs::remove(library_);
  }
}

/// Where an image has its symbol, from its file.
std::uint64_t symbol_of(const Image* image) {
  const auto* symbol =
      image != nullptr && image->file ? image->file->find_symbol("mqbridge_test_symbol") : nullptr;
  return symbol == nullptr ? 0 : symbol->address.value;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream bytes(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(bytes), {}};
}

template <class Record>
Record read_as(const std::string& bytes, std::size_t at) {
  Record record{};
  std::memcpy(&record, &bytes.at(at), sizeof record);
  return record;
}

/// A library that has the build-id of another one, and its symbol elsewhere.
class ForgedFiles : public FetchFiles {
protected:
  ForgedFiles() {
    fs::create_directories(forged_.parent_path());
    compile("int mqbridge_test_symbol = 1;", library_, "--build-id=0xabcdef0123456789");
    compile("int other[64] = {1}; int mqbridge_test_symbol = 1;", forged_,
            "--build-id=0xabcdef0123456789");
    right_ = (*ElfFile::open(library_))->find_symbol("mqbridge_test_symbol")->address.value;
    EXPECT_NE((*ElfFile::open(forged_))->find_symbol("mqbridge_test_symbol")->address.value,
              right_);
  }
  std::uint64_t found(FileFetcher& fetcher, const fs::path& library) const {
    const auto seen = look(*serve(library), &fetcher, {.sysroots = {sysroot_}});
    EXPECT_TRUE(seen.images) << seen.images.error().message;
    return symbol_of(seen.image("libmpi_test.so"));
  }

  /// A stub said of these bytes what another one says of the library.
  void put(const std::string& bytes) const {
    struct stat status {};
    ASSERT_EQ(::stat(library_.c_str(), &status), 0);
    const FileOrigin origin{"abcdef0123456789", static_cast<std::uint32_t>(status.st_ino),
                            static_cast<std::uint64_t>(status.st_size),
                            static_cast<std::uint64_t>(status.st_mtime),
                            static_cast<std::uint64_t>(status.st_ctime)};
    const auto store = FileStore::open(store_);
    auto incoming = store->begin();
    ASSERT_TRUE(incoming->append(bytes));
    ASSERT_TRUE(store->keep(std::move(*incoming), origin));
  }

  fs::path forged_ = directory_ / "forged/libmpi_test.so";
  std::uint64_t right_ = 0;
};

TEST_F(ForgedFiles, AreNotUsedForAnotherProcess) {
  {
    auto always = fetcher(FetchMode::always);
    EXPECT_NE(found(always, forged_), right_) << "it is what that process runs";
    EXPECT_EQ(found(always, library_), right_) << "in the same run";
  }
  auto never = fetcher(FetchMode::never);
  EXPECT_EQ(found(never, library_), right_) << "in a later one";
  EXPECT_NE(found(never, forged_), right_);
}

// Of a stub that says of its own file what another one says of an honest one.
TEST_F(ForgedFiles, AreNotUsedWhereMemoryDisagrees) {
  put(bytes_of(library_));
  auto never = fetcher(FetchMode::never);
  EXPECT_EQ(found(never, library_), right_) << "it is looked for by another name";
  fs::remove_all(store_);
  put(bytes_of(forged_));
  EXPECT_EQ(found(never, library_), 0U);
  auto always = fetcher(FetchMode::always);
  EXPECT_EQ(found(always, library_), right_);
}

/// All segments of a file may be written to: it says so.
std::string writable(std::string file) {
  const auto header = read_as<ElfW(Ehdr)>(file, 0);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto at = header.e_phoff + i * sizeof(ElfW(Phdr));
    auto segment = read_as<ElfW(Phdr)>(file, at);
    segment.p_flags |= PF_W;
    std::memcpy(file.data() + at, &segment, sizeof segment);
  }
  return file;
}

/// The symbols of a file, each elsewhere, are in what nothing loads.
std::string with_symbols_beside_it(std::string file) {
  const auto header = read_as<ElfW(Ehdr)>(file, 0);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto at = header.e_shoff + i * sizeof(ElfW(Shdr));
    auto section = read_as<ElfW(Shdr)>(file, at);
    if (section.sh_type != SHT_DYNSYM)
      continue;
    file.resize((file.size() + 15) / 16 * 16);
    const auto symbols = std::exchange(section.sh_offset, file.size());
    for (auto from = symbols; from < symbols + section.sh_size; from += sizeof(ElfW(Sym))) {
      auto symbol = read_as<ElfW(Sym)>(file, from);
      symbol.st_value += symbol.st_value == 0 ? 0 : 4;
      file.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
    }
    std::memcpy(file.data() + at, &section, sizeof section);
  }
  return file;
}

TEST_F(ForgedFiles, AreNotUsedWhereTheySayThatMemoryTellsNothing) {
  auto never = fetcher(FetchMode::never);
  for (const auto& forged :
       {writable(bytes_of(forged_)), with_symbols_beside_it(bytes_of(library_))}) {
    fs::remove_all(store_);
    put(forged);
    EXPECT_EQ(found(never, library_), 0U);
  }
}

TEST_F(ForgedFiles, ThatAreBeingReadKeepNoRankWaitingThatHasItsOwn) {
  auto always = fetcher(FetchMode::always);
  ASSERT_EQ(found(always, library_), right_);
  std::promise<void> asked;
  std::atomic<bool> second_is_done = false;
  auto asking = fetcher(FetchMode::ask, [&](const FetchQuestion&) {
    asked.set_value();
    eventually(std::chrono::seconds(30), [&] { return second_is_done.load(); });
    return true;
  });
  const auto one = serve(forged_);
  const auto two = serve(library_);
  std::jthread first([&] { look(*one, &asking, {.sysroots = {sysroot_}}); });
  ASSERT_EQ(asked.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  const auto seen = look(*two, &asking, {.sysroots = {sysroot_}}, std::chrono::seconds(5));
  second_is_done = true;
  EXPECT_THAT(seen.warnings, IsEmpty());
  EXPECT_EQ(symbol_of(seen.image("libmpi_test.so")), right_);
}

// What blocks the stub that opens files must not block the one that holds the target.
TEST_F(FetchFiles, OfALocalProcessAreReadByAStubThatHoldsNothing) {
  const auto trace_path = directory_ / "trace";
  const auto server = serve(ServerMode::stdio);
  {
    auto trace = rsp::Trace::open(trace_path);
    ASSERT_TRUE(trace);
    const rsp::Endpoint local{fmt::format("local:{}", server->inferior()),
                              rsp::CommandEndpoint{{"gdbserver", "--once", "--multi", "-"}},
                              server->inferior()};
    const auto client = rsp::Client::connect(local, {.trace = trace->get()});
    ASSERT_TRUE(client) << client.error().message;
    auto always = fetcher(FetchMode::always);
    const auto seen = look(**client, &always, {.sysroots = {sysroot_}});
    ASSERT_TRUE(seen.images) << seen.images.error().message;
    EXPECT_TRUE(in_store(seen.image("program")));
    EXPECT_TRUE(in_store(seen.image("libmpi_test.so")));
    EXPECT_THAT(seen.warnings, IsEmpty());
    ASSERT_TRUE((*trace)->close());
  }
  std::ifstream file(trace_path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr("vFile:open:" + rsp::encode_hex("/proc/")));
  for (const auto& path :
       {program_.string(), library_.string(), std::string("/exe"), std::string("/map_files/")})
    EXPECT_THAT(text, Not(HasSubstr(rsp::encode_hex(path))));
}

TEST_F(FetchFiles, RanksThatWantTheSameFileReadItOnce) {
  std::atomic<int> times = 0;
  auto asking = fetcher(FetchMode::ask, [&](const FetchQuestion&) {
    ++times;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return true;
  });
  const auto one = serve();
  const auto two = serve();
  std::atomic<int> found = 0;
  const auto run = [&](const GdbServer& server) {
    const auto seen = look(server, &asking, {.sysroots = {sysroot_}});
    found += in_store(seen.image("program")) && in_store(seen.image("libmpi_test.so")) ? 1 : 0;
  };
  {
    std::jthread first([&] { run(*one); });
    std::jthread second([&] { run(*two); });
  }
  EXPECT_EQ(found, 2);
  EXPECT_EQ(times, 1);
}

TEST_F(FetchFiles, WhoWaitsForAnotherRankWaitsNoLongerThanItMay) {
  std::promise<void> asked;
  std::atomic<bool> second_is_done = false;
  std::atomic<bool> answered = false;
  auto asking = fetcher(FetchMode::ask, [&](const FetchQuestion&) {
    asked.set_value();
    eventually(std::chrono::seconds(30), [&] { return second_is_done.load(); });
    answered = true;
    return true;
  });
  const auto one = serve();
  const auto two = serve();
  std::jthread first([&] { look(*one, &asking, {.sysroots = {sysroot_}}); });
  ASSERT_EQ(asked.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  const auto seen = look(*two, &asking, {.sysroots = {sysroot_}}, std::chrono::milliseconds(500));
  EXPECT_FALSE(answered) << "it waited for the answer";
  second_is_done = true;
  EXPECT_THAT(seen.warnings, has_code("fetch.too_long"));
}

TEST_F(FetchFiles, WithoutADirectoryToKeepThemRanksShareThemAllTheSame) {
  FileFetcher always({FetchMode::always}, std::nullopt);
  const auto seen = look(always);
  ASSERT_TRUE(seen.images) << seen.images.error().message;
  const auto* library = seen.image("libmpi_test.so");
  ASSERT_TRUE(library != nullptr && library->file);
  EXPECT_TRUE(always.has(library->file->build_id()));
  EXPECT_FALSE(FileFetcher({FetchMode::always}, std::nullopt).has(library->file->build_id()));
}

TEST_F(FetchFiles, FilesWithoutBuildIdAreForThisRunOnly) {
  const auto ran =
      run_command({"objcopy", "--remove-section=.note.gnu.build-id", library_.string()},
                  std::chrono::seconds(60));
  ASSERT_TRUE(ran && ran->exit_status == 0);
  fs::path kept;
  {
    auto always = fetcher(FetchMode::always);
    const auto seen = look(always);
    ASSERT_TRUE(seen.images) << seen.images.error().message;
    ASSERT_NE(seen.image("libmpi_test.so")->file, nullptr);
    kept = seen.image("libmpi_test.so")->file->path();
    EXPECT_NE(kept.parent_path(), store_);
    EXPECT_TRUE(fs::exists(kept));
  }
  EXPECT_FALSE(fs::exists(kept));
}

/// struct stat of a regular file, as the protocol packs it.
std::string status_of(std::size_t size, char inode) {
  std::string bytes(64, '\0');
  bytes[7] = inode;
  bytes[10] = static_cast<char>(0x81); // st_mode 0100644
  bytes[11] = static_cast<char>(0xa4);
  bytes[34] = static_cast<char>(size >> 8);
  bytes[35] = static_cast<char>(size);
  return "F40;" + bytes;
}

std::string open_request(std::string_view path) {
  return fmt::format("vFile:open:{},", rsp::encode_hex(path));
}

/// Process 77, whose files can be opened by their names alone.
class ScriptedFiles : public testing::Test {
protected:
  ScriptedFiles() {
    stub_.on("vFile:setfs:", Answer::packet("F0"));
    stub_.on("vFile:open:", Answer::packet("F-1,1"));
    stub_.on("vFile:close:", Answer::packet("F0"));
  }
  void serve(char descriptor, const std::string& path, const std::string& text) {
    stub_.on(open_request(path), Answer::packet(fmt::format("F{}", descriptor)));
    stub_.on(fmt::format("vFile:pread:{},", descriptor), [text](std::string_view request) {
      return Answer::packet(request.ends_with(",0") ? fmt::format("F{:x};{}", text.size(), text)
                                                    : std::string("F0;"));
    });
  }
  void serve_file(char descriptor, const std::string& path, const std::string& text, char inode) {
    serve(descriptor, path, text);
    stub_.on(fmt::format("vFile:fstat:{}", descriptor),
             Answer::packet(status_of(text.size(), inode)));
  }
  void serve_maps(const std::string& text) { serve('3', "/proc/77/maps", text); }

  std::vector<Error> fetch(FileFetcher& fetcher, std::vector<WantedFile> wanted,
                           std::int64_t pid = 77) {
    std::vector<Error> faults;
    const auto client = connected(stub_);
    const auto no_file = [](const WantedFile&, const fs::path&) { return Result<bool>(false); };
    EXPECT_TRUE(client && fetcher.fetch(*client, pid, wanted, no_file, {}, faults));
    return faults;
  }

  ScriptedStub stub_;
};

TEST_F(ScriptedFiles, OneThatCannotBeReadDoesNotStandInTheWayOfOthers) {
  const std::string text = "no ELF file, but readable";
  serve_maps("1000-2000 r--p 00000000 fe:00 1 /bad\n3000-4000 r--p 00000000 fe:00 2 /good\n");
  serve_file('5', "/bad", std::string(40'000, ' '), 1);
  serve_file('6', "/good", text, 2);
  stub_.on("vFile:pread:5,", Answer::packet("F-1,270f"));
  std::optional<FetchQuestion> asked;
  FileFetcher fetcher({FetchMode::ask,
                       [&](const FetchQuestion& question) {
                         asked = question;
                         return true;
                       }},
                      std::nullopt);
  const auto faults = fetch(fetcher, {{"/bad", "abcd", {0x1000}}, {"/good", "ef01", {0x3000}}});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->files, std::vector<std::string>{"/good"});
  EXPECT_LT(asked->held, std::chrono::seconds(60)) << "not a second a byte";
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].code, "vfile.read");
  EXPECT_THAT(faults[0].message, HasSubstr("/bad"));
  EXPECT_EQ(faults[1].code, "elf.not_elf");
  EXPECT_THAT(faults[1].message, HasSubstr("/good"));
  EXPECT_EQ(stub_.count("vFile:close:5"), 1U);
  EXPECT_EQ(stub_.count("vFile:close:6"), 1U);
}

TEST_F(ScriptedFiles, NoNameIsOpenedThatTheKernelDoesNotVouchFor) {
  serve_maps("1000-2000 r--p 00000000 fe:00 1 /gone (deleted)\n"
             "3000-4000 rw-p 00000000 00:00 0 \n"
             "5000-6000 r--p 00000000 fe:00 2 /exchanged\n"
             "6000-7000 r--p 00000000 fe:00 4 /two\\012lines\n");
  serve_file('5', "/exchanged", "another one", 3);
  struct Case {
    const char* path;
    std::uint64_t header;
    const char* code;
    std::int64_t pid = 77;
  };
  for (const auto& [path, header, code, pid] :
       {Case{"/gone", 0x1000, "vfile.replaced"}, Case{"/anonymous", 0x3000, "vfile.not_mapped"},
        Case{"/two\\012lines", 0x6000, "vfile.ambiguous"},
        Case{"/nowhere", 0x8000, "vfile.not_mapped"}, Case{"/gone", 0x1000, "vfile.no_maps", 0},
        Case{"/gone", 0x1000, "vfile.no_maps", 78}}) {
    FileFetcher always({FetchMode::always}, std::nullopt);
    const auto faults = fetch(always, {{path, "abcd", {header}}}, pid);
    ASSERT_EQ(faults.size(), 1U) << path << code;
    EXPECT_EQ(faults[0].code, code) << path;
    EXPECT_THAT(faults[0].hint, HasSubstr("--sysroot"));
    EXPECT_EQ(stub_.count(open_request(path)), 0U) << path << code;
    EXPECT_EQ(stub_.count(open_request(fmt::format("/proc/{}/root{}", pid, path))), 0U);
  }
  FileFetcher always({FetchMode::always}, std::nullopt);
  const auto faults = fetch(always, {{"/any name", "abcd", {0x5000}}});
  EXPECT_GT(stub_.count(open_request("/exchanged")), 0U);
  EXPECT_EQ(stub_.count("vFile:pread:5"), 0U) << "another inode";
  EXPECT_EQ(stub_.count("vFile:close:5"), 1U);
  EXPECT_EQ(stub_.count(open_request("/any name")), 0U);
  ASSERT_EQ(faults.size(), 1U);
}

// ld-linux-x86-64.so.2 PROGRAM
TEST_F(ScriptedFiles, AProgramIsNotTakenForTheLdSoThatStartedIt) {
  serve_maps("1000-2000 r--p 00000000 fe:00 2 /program\n");
  serve_file('5', "/proc/77/exe", "what ld.so is", 9);
  serve_file('6', "/program", "no ELF file, but readable", 2);
  FileFetcher always({FetchMode::always}, std::nullopt);
  fetch(always, {{"/program", "abcd", {0x1000}, true}});
  EXPECT_EQ(stub_.count("vFile:pread:5"), 0U);
  EXPECT_EQ(stub_.count("vFile:close:5"), 1U);
  EXPECT_GT(stub_.count("vFile:pread:6"), 0U);
}

/// A node that has one file, of `size`, which process 77 has mapped.
void offer_file(ScriptedStub& stub, std::size_t size) {
  stub.on("vFile:setfs:", Answer::packet("F0"));
  stub.on(open_request("/proc/77/maps"), Answer::packet("F3"));
  stub.on("vFile:pread:3,", [](std::string_view request) {
    const std::string maps = "1000-2000 r--p 00000000 fe:00 1 /file\n";
    return Answer::packet(request.ends_with(",0") ? fmt::format("F{:x};{}", maps.size(), maps)
                                                  : std::string("F0;"));
  });
  stub.on("vFile:open:", Answer::packet("F5"));
  stub.on("vFile:fstat:5", Answer::packet(status_of(size, 1)));
  stub.on("vFile:pread:5,", [size](std::string_view request) { // 5,COUNT,OFFSET
    const std::string text(request.substr(request.find(',') + 1));
    std::size_t comma = 0;
    const auto wanted = std::stoul(text, &comma, 16);
    const auto at = std::stoul(text.substr(comma + 1), nullptr, 16);
    const auto count = std::min({size - std::min(at, size), wanted, std::size_t{1000}});
    return Answer::packet(fmt::format("F{:x};{}", count, std::string(count, 'x')));
  });
  stub.on("vFile:close:", Answer::packet("F0"));
}

TEST_F(FetchFiles, AYesIsForNoMoreThanWasAskedFor) {
  std::vector<std::uint64_t> asked;
  auto asking = fetcher(FetchMode::ask, [&](const FetchQuestion& question) {
    asked.push_back(question.bytes);
    return true;
  });
  int build = 0x10;
  for (const std::size_t size : {200, 100, 200, 20'000, 300, 20'001}) {
    ScriptedStub stub;
    offer_file(stub, size);
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    std::vector<WantedFile> wanted = {{"/file", fmt::format("{:x}", build++), {0x1000}}};
    std::vector<Error> faults;
    const auto done = asking.fetch(*client, 77, wanted, nullptr, {}, faults);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(stub.count("vFile:pread:5,") > 0, true) << size;
  }
  EXPECT_THAT(asked, testing::ElementsAre(200, 20'000, 20'001));
}

TEST_F(FetchFiles, AStubThatReadsNoFilesIsSaidToBeOne) {
  const ScriptedStub stub;
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  auto always = fetcher(FetchMode::always);
  std::vector<WantedFile> wanted = {{"/lib/libmpi.so", "abcd", {0x1000}}};
  std::vector<Error> faults;
  ASSERT_TRUE(always.fetch(*client, 77, wanted, nullptr, {}, faults));
  ASSERT_THAT(faults, has_code("vfile.unsupported"));
  EXPECT_THAT(faults[0].hint, HasSubstr("--sysroot"));
  EXPECT_TRUE(wanted[0].found.empty());
}

} // namespace
} // namespace mqbridge::test
