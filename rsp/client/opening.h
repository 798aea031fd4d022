#pragma once

#include "rsp/client/client.h"
#include "rsp/client/features.h"

#include <string>
#include <vector>

namespace mqbridge::rsp {

/// The questions with which every look at a process begins: for the first pieces of its auxiliary
/// vector, executable, libraries and target description, as far as the stub announces them.
std::vector<std::string> process_questions(const Features& features);

/// The first questions of a client to a stub: where its process stands, and process_questions(). If
/// the client is to attach to a process (`names_process`), it asks whether the stub still holds
/// others instead (`!`, `?`).
std::vector<std::string> opening_questions(const Features& features, bool names_process);

/// Asks the process_questions() ahead that have no answer yet: they are needed next after an
/// attach.
void ask_about_process(Client& client);

} // namespace mqbridge::rsp
