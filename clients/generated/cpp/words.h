// Checks, and short words for the client's long ones.

#pragma once

#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "Cassandra.h"

using namespace org::apache::cassandra;

using Strings = std::vector<std::string>;
using Changes = std::map<std::string, std::vector<Mutation>>;

constexpr auto ONE = ConsistencyLevel::ONE;

inline int checks = 0;

inline std::ostream& operator<<(std::ostream& out, const Strings& strings) {
  out << '[';
  for (const auto& each : strings) out << '"' << each << "\" ";
  return out << ']';
}

template <typename T, typename U>
void check(const std::string& what, const T& found, const U& expected) {
  checks++;
  if (found != T(expected)) {
    std::ostringstream text;
    text << what << ": expected " << T(expected) << ", found " << found;
    throw std::runtime_error(text.str());
  }
}

template <typename Error>
void refused(const std::string& what, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error&) {
    checks++;
    return;
  }
  throw std::runtime_error(what + ": was not refused");
}

inline std::string long_bytes(int64_t number) {
  std::string bytes(8, '\0');
  for (int place = 7; place >= 0; place--, number >>= 8) bytes[place] = static_cast<char>(number & 0xff);
  return bytes;
}

inline std::string text_of_long(const std::string& bytes) {
  int64_t number = 0;
  for (unsigned char byte : bytes) number = number << 8 | byte;
  return std::to_string(number);
}

inline ColumnParent parent(const std::string& family, const std::string& super_column = "") {
  ColumnParent parent;
  parent.__set_column_family(family);
  if (!super_column.empty()) parent.__set_super_column(super_column);
  return parent;
}

inline ColumnPath path(const std::string& family, const std::string& column, const std::string& super_column = "") {
  ColumnPath path;
  path.__set_column_family(family);
  if (!column.empty()) path.__set_column(column);
  if (!super_column.empty()) path.__set_super_column(super_column);
  return path;
}

inline SlicePredicate names(const Strings& names) {
  SlicePredicate predicate;
  predicate.__set_column_names(names);
  return predicate;
}

inline SlicePredicate between(const std::string& start, const std::string& finish, bool reversed, int32_t count) {
  SliceRange range;
  range.__set_start(start);
  range.__set_finish(finish);
  range.__set_reversed(reversed);
  range.__set_count(count);
  SlicePredicate predicate;
  predicate.__set_slice_range(range);
  return predicate;
}

inline KeyRange rows(const std::string& start, const std::string& end, int32_t count) {
  KeyRange range;
  range.__set_start_key(start);
  range.__set_end_key(end);
  range.__set_count(count);
  return range;
}

inline IndexExpression expression(const std::string& name, IndexOperator::type op, const std::string& value) {
  IndexExpression expression;
  expression.__set_column_name(name);
  expression.__set_op(op);
  expression.__set_value(value);
  return expression;
}

inline Column column(const std::string& name, const std::string& value, int64_t timestamp = 10) {
  Column column;
  column.__set_name(name);
  column.__set_value(value);
  column.__set_timestamp(timestamp);
  return column;
}

inline Mutation write(const ColumnOrSuperColumn& entry) {
  Mutation mutation;
  mutation.__set_column_or_supercolumn(entry);
  return mutation;
}

inline Mutation write(const Column& column) {
  ColumnOrSuperColumn entry;
  entry.__set_column(column);
  return write(entry);
}

inline std::string pair(const Column& column) { return column.name + "=" + column.value; }

inline Strings pairs(const std::vector<Column>& columns) {
  Strings found;
  for (const auto& column : columns) found.push_back(pair(column));
  return found;
}

inline Strings columns(const std::vector<ColumnOrSuperColumn>& entries) {
  Strings found;
  for (const auto& entry : entries) found.push_back(pair(entry.column));
  return found;
}

// number[name=value, ...] for each, in their order.
inline Strings super_columns(const std::vector<ColumnOrSuperColumn>& entries) {
  Strings found;
  for (const auto& entry : entries) {
    std::ostringstream text;
    text << text_of_long(entry.super_column.name);
    for (const auto& column : entry.super_column.columns) text << ' ' << pair(column);
    found.push_back(text.str());
  }
  return found;
}

inline std::string book(int number) {
  std::ostringstream text;
  text << "book" << std::setw(2) << std::setfill('0') << number;
  return text.str();
}

inline Strings books(int first, int step) {
  Strings found;
  for (int number = first; number < 20; number += step) found.push_back(book(number));
  return found;
}
