#pragma once

#include "rsp/client/client.h"
#include "rsp/client/features.h"

#include <string>
#include <vector>

namespace mqbridge::rsp {

/// What every look at a process begins with: its auxiliary vector, executable, libraries and target
/// description, as far as the stub announces them; each as read_object() asks for its first piece.
std::vector<std::string> process_questions(const Features& features);

/// What a client asks first of a stub: where its process stands, and process_questions(). Of one
/// that is to attach to a process (`names_process`): whether it still holds others (`!`, `?`).
std::vector<std::string> opening_questions(const Features& features, bool names_process);

/// Asks process_questions() ahead, as far as they are not answered: whoever attaches goes on with
/// them.
void ask_about_process(Client& client);

} // namespace mqbridge::rsp
