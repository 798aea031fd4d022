#pragma once

#include <string>

namespace mqbridge::test {

/// A listening socket on a port of its own; a failure fails the test.
int listen_on_loopback(std::string& port);

/// The same on a Unix socket in a directory of its own.
int listen_on_path(std::string& path);
void remove_listening_path(const std::string& path);

/// A socket that is connected to such a port; a failure fails the test.
int connect_to_loopback(const std::string& port);

} // namespace mqbridge::test
