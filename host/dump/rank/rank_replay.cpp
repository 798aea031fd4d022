#include "host/dump/rank/rank_replay.h"

#include <algorithm>

namespace mqbridge {
namespace {

constexpr unsigned page_bits = 12;
constexpr std::uint64_t page_size = std::uint64_t{1} << page_bits;

} // namespace

PageRuns RankReplay::process_pages(std::string_view identity) {
  known_ = records_ != nullptr ? records_->process_pages(identity) : PageRuns{};
  return known_;
}

PageRuns RankReplay::image_pages(std::string_view build_id) {
  return records_ != nullptr ? records_->image_pages(build_id) : PageRuns{};
}

void RankReplay::take_down(std::string identity, PageRuns touched, const ImageSet* images) {
  if (records_ == nullptr || identity.empty())
    return;
  identity_ = std::move(identity);
  touched_ = std::move(touched);
  of_images_.clear();
  if (images == nullptr)
    return;
  for (const auto& image : images->images()) {
    if (!image.file || image.file->build_id().empty())
      continue;
    if (auto pages = pages_of_image(image, touched_); !pages.empty())
      of_images_.emplace_back(image.file->build_id(), std::move(pages));
  }
}

void RankReplay::keep() {
  if (records_ == nullptr || identity_.empty())
    return;
  records_->keep_process_pages(identity_, touched_);
  for (const auto& [build_id, pages] : of_images_)
    records_->keep_image_pages(build_id, pages);
}

PageRuns pages_of_image(const Image& image, const PageRuns& touched) {
  const std::uint64_t bias = image.bias(FileAddress{0}).value;
  if (bias % page_size != 0)
    return {}; // placed by hand, where no loader would put it
  std::vector<std::uint64_t> pages;
  for (const auto& segment : image.file->segments()) {
    if (!segment.writable || segment.memory_size == 0)
      continue;
    const std::uint64_t start = image.bias(segment.address).value;
    const std::uint64_t first = start >> page_bits;
    const std::uint64_t last = (start + (segment.memory_size - 1)) >> page_bits;
    for (const auto& run : touched)
      for (auto page = std::max(run.first, first);
           page <= std::min(run.first + run.count - 1, last); ++page)
        pages.push_back(page - (bias >> page_bits));
  }
  return runs_of(std::move(pages));
}

} // namespace mqbridge
