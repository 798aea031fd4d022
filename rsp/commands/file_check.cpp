#include "rsp/commands/file_check.h"

#include <utility>

namespace mqbridge::rsp {

void FileCheck::offer(const MemoryPiece& piece) {
  if (!file_.begin_check(piece.address, piece.length))
    return;
  piece_ = piece;
  due_ = true;
}

bool FileCheck::ask(std::string& payload) {
  if (!std::exchange(due_, false))
    return false;
  file_.append_request(payload, piece_->address, piece_->length);
  return true;
}

void FileCheck::take(std::string_view reply, PieceBytes there) {
  if (there == piece_->length)
    file_.take_check(piece_->address, piece_->length, reply,
                     [this](std::string_view bytes) { return is_in_place(*piece_, bytes); });
  else
    file_.skip_check();
}

} // namespace mqbridge::rsp
