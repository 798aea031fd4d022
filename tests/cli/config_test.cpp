#include "host/cli/arguments/config.h"
#include "tests/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;

class ConfigFile : public testing::Test {
protected:
  Result<Config> read(const std::string& text) {
    write_file(path(), text);
    return read_config(path());
  }
  std::filesystem::path path() const { return folder_ / "mqbridge.toml"; }

private:
  TemporaryFolder folder_;
};

TEST_F(ConfigFile, MapsDllsAndAllowsDirectories) {
  const auto config = read("[dll]\n"
                           "openmpi = \"/opt/mpi/dbg.so\"\n"
                           "\"openmpi 4.1.4\" = \"/usr/lib/dbg.so\"\n"
                           "allowed_directories = [\"/opt/mpi\", \"/srv/mpi\"]\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->dlls,
              testing::UnorderedElementsAre(testing::Pair("openmpi", "/opt/mpi/dbg.so"),
                                            testing::Pair("openmpi 4.1.4", "/usr/lib/dbg.so")));
  EXPECT_THAT(config->allowed_directories, testing::ElementsAre("/opt/mpi", "/srv/mpi"));
}

TEST_F(ConfigFile, MayBeEmpty) {
  EXPECT_TRUE(read(""));
  EXPECT_TRUE(read("# nothing yet\n[dll]\n"));
}

TEST_F(ConfigFile, FaultsNameFileAndLine) {
  struct Case {
    const char* text;
    const char* code;
    const char* said;
  };
  const Case cases[] = {
      {"[dll]\nopenmpi = ", "config.syntax", "mqbridge.toml:2"},
      {"\n[dlls]\n", "config.unknown_key", "mqbridge.toml:2: the key \"dlls\""},
      {"dll = 3\n", "config.value", "mqbridge.toml:1"},
      {"[dll]\nlam = \"/x\"\n", "config.unknown_key", "mqbridge.toml:2: the key \"lam\""},
      {"[dll]\nallowed_directory = [\"/x\"]\n", "config.unknown_key", "allowed_directory"},
      {"[dll]\nopenmpi = 4\n", "config.value", "mqbridge.toml:2: \"openmpi\" is not"},
      {"[dll]\nopenmpi = \"lib/x.so\"\n", "config.value", "absolute"},
      {"[dll]\nallowed_directories = \"/x\"\n", "config.value", "list"},
      {"[dll]\nallowed_directories = [\"/x\", 3]\n", "config.value", "mqbridge.toml:2"},
      {"[dll]\nallowed_directories = [\"x\"]\n", "config.value", "absolute"},
      {"[dll]\nopenmpi = \"\\xff\"\n", "config.syntax", "mqbridge.toml:2"},
  };
  for (const Case& c : cases) {
    const auto config = read(c.text);
    ASSERT_FALSE(config) << c.text;
    EXPECT_EQ(config.error().code, c.code) << c.text;
    EXPECT_THAT(config.error().message, HasSubstr(c.said));
    EXPECT_NE(config.error().hint, "");
  }
}

TEST_F(ConfigFile, ThatCannotBeReadIsAnError) {
  for (const std::string name : {"/nowhere/mqbridge.toml", "/"}) {
    const auto config = read_config(name);
    ASSERT_FALSE(config) << name;
    EXPECT_EQ(config.error().code, "config.open");
    EXPECT_THAT(config.error().message, HasSubstr(name));
  }
}

TEST_F(ConfigFile, IsReadByTheProgram) {
  write_file(path(), "[dll]\nopenmpi = 4\n");
  const Ran ran = run("mqbridge dump --config '" + path().string() + "' 127.0.0.1:1");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("config.value"));
}

} // namespace
} // namespace mqbridge::test
