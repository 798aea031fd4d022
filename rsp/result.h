#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace mqbridge {

/// Why something could not be done, and what the user can do about it.
///
/// `code` is dotted and stable ("connect.refused", "ptrace.denied"): scripts match it; it must
/// point at static storage. `message` names what failed and why, with the failing address, packet
/// or file. `hint` is the next step, best a line that can be pasted into a shell; empty if there is
/// none.
struct [[nodiscard]] Error {
  std::string_view code;
  std::string message;
  std::string hint = {};
};

/// A value, or the Error that says why there is none. Never ignored: the compiler warns.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
public:
  using tl::expected<T, Error>::expected;
};

/// The failure side of a Result.
using Failure = tl::unexpected<Error>;

/// `return fail("connect.refused", "nobody listens on ...", "start gdbserver ...");`
inline Failure fail(std::string_view code, std::string message, std::string hint = {}) {
  return Failure(Error{code, std::move(message), std::move(hint)});
}

/// Passes an error on: `if (!r) return forward(std::move(r));`
template <class T>
Failure forward(Result<T>&& result) {
  return Failure(std::move(result).error());
}

} // namespace mqbridge
