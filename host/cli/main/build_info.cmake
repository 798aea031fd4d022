# Writes HEADER with VERSION and what is built: the commit, of git or of the release's archive, and COMPILER. Untouched where it is right.
cmake_path(GET SOURCES PARENT_PATH above)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env GIT_CEILING_DIRECTORIES=${above} git -C ${SOURCES} describe --always --abbrev=12 --exclude=* "--dirty= with changes"
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  # `git archive` writes it there.
  file(READ ${CMAKE_CURRENT_LIST_DIR}/commit.txt commit)
  string(REGEX MATCH "^[0-9a-f]+" commit "${commit}")
  string(SUBSTRING "${commit}" 0 12 commit)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT [[
#define MQBRIDGE_VERSION "@VERSION@"
#define MQBRIDGE_BUILD "commit @commit@, @COMPILER@"
]] @ONLY)
