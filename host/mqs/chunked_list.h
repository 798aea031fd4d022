#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

namespace mqbridge {

/// A sequence that grows without moving its elements. A std::vector of a million operations holds
/// them twice for as long as it grows; this one never does. A subset of std::vector's interface,
/// with the same meaning.
///
/// Elements lie in chunks of 256: the 257th begins a second chunk, and the first 256 stay where
/// they are. Only the first chunk grows as a vector does, so that short lists stay small.
///
/// Not a std::deque: that one can only be copied when a std::vector<Communicator> grows.
template <class T>
class ChunkedList {
public:
  static constexpr std::size_t chunk = 256;

  template <class List, class Element>
  class Iterator {
  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;

    Iterator() = default;
    Iterator(List& list, std::size_t index) : list_(&list), index_(index) {}

    Element& operator*() const { return (*list_)[index_]; }
    Element* operator->() const { return &(*list_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, Iterator(*list_, index_ + 1)); }
    bool operator==(const Iterator&) const = default;

  private:
    List* list_ = nullptr;
    std::size_t index_ = 0;
  };
  using value_type = T;
  using iterator = Iterator<ChunkedList, T>;
  using const_iterator = Iterator<const ChunkedList, const T>;

  ChunkedList() = default;
  template <class It>
  ChunkedList(It from, It to) {
    for (; from != to; ++from)
      push_back(*from);
  }

  std::size_t size() const {
    return chunks_.empty() ? 0 : (chunks_.size() - 1) * chunk + chunks_.back().size();
  }
  bool empty() const { return chunks_.empty(); }
  T& operator[](std::size_t index) { return chunks_[index / chunk][index % chunk]; }
  const T& operator[](std::size_t index) const { return chunks_[index / chunk][index % chunk]; }
  /// Throws std::out_of_range.
  const T& at(std::size_t index) const {
    if (index >= size())
      throw std::out_of_range("ChunkedList::at");
    return (*this)[index];
  }
  T& front() { return chunks_.front().front(); }
  T& back() { return chunks_.back().back(); }

  iterator begin() { return {*this, 0}; }
  iterator end() { return {*this, size()}; }
  const_iterator begin() const { return {*this, 0}; }
  const_iterator end() const { return {*this, size()}; }

  T& emplace_back(T element = T()) {
    if (chunks_.empty() || chunks_.back().size() == chunk) {
      chunks_.emplace_back();
      if (chunks_.size() > 1)
        chunks_.back().reserve(chunk);
    }
    return chunks_.back().emplace_back(std::move(element));
  }
  void push_back(T element) { emplace_back(std::move(element)); }

  /// Drops the elements from `count` on; there are that many at least.
  void truncate(std::size_t count) {
    chunks_.resize((count + chunk - 1) / chunk);
    if (!chunks_.empty())
      chunks_.back().erase(chunks_.back().begin() +
                               static_cast<std::ptrdiff_t>(count - (chunks_.size() - 1) * chunk),
                           chunks_.back().end());
  }

  /// Returns how many went. The others keep their order.
  template <class Predicate>
  friend std::size_t erase_if(ChunkedList& list, Predicate predicate) {
    const auto before = list.size();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < before; ++i) {
      if (predicate(std::as_const(list)[i]))
        continue;
      if (kept != i)
        list[kept] = std::move(list[i]);
      ++kept;
    }
    list.truncate(kept);
    return before - kept;
  }

private:
  std::vector<std::vector<T>> chunks_; ///< all but the last are full; none is empty
};

} // namespace mqbridge
