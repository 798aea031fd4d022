#pragma once

#include "host/report/paint.h"

#include <cstddef>
#include <string>
#include <vector>

namespace mqbridge {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  std::size_t gap = 2; ///< spaces before it
  int drop = 0; ///< a table that is too wide leaves out the column with the most first; 0: never
};

struct Cell {
  std::string text; ///< printable UTF-8
  Style style = Style::plain;
};

/// Columns that line up. Each row is given to it twice: first all rows to fit(), then each to
/// line(), so that a long table need not be kept. A row may have fewer cells than there are
/// columns. Trailing blanks are never written. No cell is ever cut: a part of a number or of a word
/// would be wrong. If the rows are wider than `width`, whole columns are left out (Column::drop).
class Table {
public:
  Table(std::vector<Column> columns, std::size_t width);

  void fit(const std::vector<Cell>& row);
  /// Leaves columns out until the rows fit, or no more may be left out. To be called once, after
  /// the last fit(). Returns the indexes of the columns that were left out.
  std::vector<std::size_t> narrow();
  std::string titles(const Paint& paint) const;
  std::string line(const std::vector<Cell>& row, const Paint& paint) const;

private:
  std::vector<Column> columns_;
  std::size_t width_;
  std::vector<std::size_t> widths_;
  std::vector<bool> left_out_;
};

} // namespace mqbridge
