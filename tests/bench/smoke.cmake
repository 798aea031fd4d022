# BENCH, PYTHON, REPORT, INTO: runs one cell of the benchmark once, and makes the page of it.
file(REMOVE_RECURSE ${INTO})
file(MAKE_DIRECTORY ${INTO})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${out}${err}")
  endif()
endfunction()

set(cell openmpi/n:10/arch:x86_64/shuffled:0/ranks:1/rtt_us:1000/bytes_per_s:0)
run(${BENCH} --only ${cell} --repeats 2 --no-peers --out ${INTO}/results.json --trace ${INTO}/trace.txt)
run(${PYTHON} ${REPORT} ${INTO}/results.json --trace ${INTO}/trace.txt -o ${INTO}/page.html)

# Every state of knowledge and every cache came to a right answer, twice.
file(READ ${INTO}/results.json results)
foreach(contender none/state:warm page/state:warm full/state:cold full/state:warm full/state:second)
  string(REGEX MATCHALL "\"name\": \"${cell}/mqbridge/cache:${contender}[^\n]*\n[^}]*\"run_type\": \"iteration\""
    runs "${results}")
  list(LENGTH runs count)
  if(NOT count EQUAL 2)
    message(FATAL_ERROR "${count} runs of cache:${contender}, should be 2")
  endif()
endforeach()
file(READ ${INTO}/page.html page)
if(NOT page MATCHES "Packets of one dump")
  message(FATAL_ERROR "the page lacks the packets")
endif()
