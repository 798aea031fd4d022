#include "rsp/client/opening.h"

#include <utility>

namespace mqbridge::rsp {

std::vector<std::string> process_questions(const Features& features) {
  std::vector<std::string> questions;
  if (features.qxfer_exec_file)
    questions.push_back(object_piece_request(features, "exec-file", "", 0));
  if (features.qxfer_auxv)
    questions.push_back(object_piece_request(features, "auxv", "", 0));
  if (features.qxfer_features)
    questions.push_back(object_piece_request(features, "features", "target.xml", 0));
  if (features.qxfer_libraries_svr4)
    questions.push_back(object_piece_request(features, "libraries-svr4", "", 0));
  return questions;
}

std::vector<std::string> opening_questions(const Features& features, bool names_process) {
  if (names_process)
    return {"!", "?"};
  std::vector<std::string> questions{"?"};
  for (auto& question : process_questions(features))
    questions.push_back(std::move(question));
  return questions;
}

void ask_about_process(Client& client) {
  for (auto& question : process_questions(client.features()))
    if (!client.answered_ahead(question))
      client.ask_ahead(std::move(question));
}

} // namespace mqbridge::rsp
