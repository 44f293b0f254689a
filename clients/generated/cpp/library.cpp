// The library of ../README.md on a generated client: library LINE HOST PORT.

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "words.h"

using Clock = std::chrono::system_clock;

static const ColumnParent BOOKS = parent("Books");
static const ColumnParent LOANS = parent("Loans");
static const SlicePredicate ALL = between("", "", false, 100);

class Library {
 public:
  explicit Library(CassandraClient& client) : client(client) {
    std::ostringstream name;
    name << "Library" << std::hex << std::random_device()();
    keyspace = name.str();
  }

  void run() {
    create_schema();
    write_columns();
    batch();
    slices();
    scan();
    index();
    write_super_columns();
    mistakes();
#if LINE >= 100
    counters();
#endif
#if LINE >= 201
    compare_and_set();
    new_reads();
#endif
    expired();
    change_schema();
  }

 private:
  CassandraClient& client;
  std::string keyspace;
  Clock::time_point expires;

  CfDef definition(const std::string& name, const std::string& comparator) {
    CfDef family;
    family.__set_keyspace(keyspace);
    family.__set_name(name);
    family.__set_comparator_type(comparator);
    return family;
  }

  static ColumnDef described(const std::string& name, const std::string& type) {
    ColumnDef column;
    column.__set_name(name);
    column.__set_validation_class(type);
    return column;
  }

  CfDef family(const std::string& name) {
    KsDef found;
    client.describe_keyspace(found, keyspace);
    for (const auto& each : found.cf_defs) {
      if (each.name == name) return each;
    }
    throw std::runtime_error("there is no column family " + name);
  }

  void create_schema() {
    std::string text;
    client.describe_version(text);
    check("the version has three parts", std::count(text.begin(), text.end(), '.'), 2);
    client.describe_cluster_name(text);
    check("the cluster has a name", text.empty(), false);
    refused<InvalidRequestException>("no keyspace yet", [&] { slice("dune", BOOKS, ALL); });

    auto books = definition("Books", "UTF8Type");
    books.__set_default_validation_class("UTF8Type");
    auto shelf = described("shelf", "UTF8Type");
    shelf.__set_index_type(IndexType::KEYS);
    shelf.__set_index_name("by_shelf");
    books.__set_column_metadata({shelf, described("year", "LongType")});
    auto loans = definition("Loans", "LongType");
    loans.__set_column_type("Super");
    loans.__set_subcomparator_type("UTF8Type");
    KsDef wanted;
    wanted.__set_name(keyspace);
    wanted.__set_strategy_class("org.apache.cassandra.locator.SimpleStrategy");
    wanted.__set_cf_defs({books, loans});
#if LINE >= 8
    wanted.__set_strategy_options({{"replication_factor", "1"}});
#else
    wanted.__set_replication_factor(1);
#endif
    client.system_add_keyspace(text, wanted);
    check("the schema has a version", text.empty(), false);
    refused<InvalidRequestException>("the keyspace is there", [&] { client.system_add_keyspace(text, wanted); });
    client.set_keyspace(keyspace);

    check("a comparator", family("Books").comparator_type, "org.apache.cassandra.db.marshal.UTF8Type");
    check("another", family("Loans").subcomparator_type, "org.apache.cassandra.db.marshal.UTF8Type");
    check("the type", family("Loans").column_type, "Super");
    Strings indexes;
    for (const auto& each : family("Books").column_metadata) {
      if (each.__isset.index_type) indexes.push_back(each.name + " " + each.index_name);
    }
    check("the index", indexes, Strings{"shelf by_shelf"});
    std::vector<KsDef> all;
    client.describe_keyspaces(all);
    const auto is_ours = [&](const KsDef& each) { return each.name == keyspace; };
    check("among the keyspaces", std::any_of(all.begin(), all.end(), is_ours), true);
  }

  Column get(const std::string& key, const ColumnPath& path) {
    ColumnOrSuperColumn found;
    client.get(found, key, path, ONE);
    return found.column;
  }

  std::vector<ColumnOrSuperColumn> slice(const std::string& key, const ColumnParent& parent,
                                         const SlicePredicate& predicate) {
    std::vector<ColumnOrSuperColumn> found;
    client.get_slice(found, key, parent, predicate, ONE);
    return found;
  }

  void write_columns() {
    for (const auto& each : {column("title", "Dune"), column("author", "Herbert"), column("shelf", "c"),
                             column("year", long_bytes(1965))}) {
      client.insert("dune", BOOKS, each, ONE);
    }
    client.insert("dune", BOOKS, column("title", "an older title", 9), ONE);
    const auto title = get("dune", path("Books", "title"));
    check("the newer of two writes", pair(title), "title=Dune");
    check("its timestamp", title.timestamp, 10);
    check("has no end", title.__isset.ttl, false);
    refused<NotFoundException>("no such column", [&] { get("dune", path("Books", "isbn")); });
    auto note = column("note", "wet");
    note.__set_ttl(2);
    client.insert("dune", BOOKS, note, ONE);
    expires = Clock::now() + std::chrono::milliseconds(3200);
    check("a time to live", get("dune", path("Books", "note")).ttl, 2);
  }

  void batch() {
    Deletion deletion;
    deletion.__set_timestamp(11);
    deletion.__set_predicate(names({"author"}));
    Mutation removal;
    removal.__set_deletion(deletion);
    std::map<std::string, Changes> batch{{"dune", {{"Books", {removal}}}}};
    for (int number = 0; number < 20; number++) {
      batch[book(number)]["Books"] = {write(column("title", "Book " + std::to_string(number))),
                                      write(column("shelf", number % 2 == 0 ? "a" : "b")),
                                      write(column("year", long_bytes(1900 + number)))};
    }
    client.batch_mutate(batch, ONE);
  }

  void slices() {
    check("by names", columns(slice("dune", BOOKS, names({"year", "title", "author"}))),
          Strings{"title=Dune", "year=" + long_bytes(1965)});
    check("all", columns(slice("book03", BOOKS, ALL)), Strings{"shelf=b", "title=Book 3", "year=" + long_bytes(1903)});
    check("a range", columns(slice("book03", BOOKS, between("shelf", "title", false, 100))),
          Strings{"shelf=b", "title=Book 3"});
    check("backwards", columns(slice("book03", BOOKS, between("u", "", true, 1))), Strings{"title=Book 3"});
    check("a count", client.get_count("book03", BOOKS, ALL, ONE), 3);
    std::map<std::string, std::vector<ColumnOrSuperColumn>> rows;
    client.multiget_slice(rows, {"book01", "nobody"}, BOOKS, names({"title"}), ONE);
    check("each key", rows.size(), 2u);
    check("a row", columns(rows["book01"]), Strings{"title=Book 1"});
    check("and none", columns(rows["nobody"]), Strings{});
    std::map<std::string, int32_t> counts;
    client.multiget_count(counts, {"book01", "nobody"}, BOOKS, ALL, ONE);
    check("counts of rows", counts == std::map<std::string, int32_t>{{"book01", 3}, {"nobody", 0}}, true);
  }

  void scan() {
    Strings seen;
    std::vector<KeySlice> page;
    for (size_t before = 1; before != seen.size();) {
      const std::string start = seen.empty() ? "" : seen.back();
      before = seen.size();
      client.get_range_slices(page, BOOKS, names({"title"}), rows(start, "", 7), ONE);
      for (const auto& row : page) {
        if (row.key != start) seen.push_back(row.key);
      }
    }
    std::sort(seen.begin(), seen.end());
    auto expected = books(0, 1);
    expected.push_back("dune");
    check("every row once", seen, expected);
  }

  Strings those(const std::vector<IndexExpression>& expressions) {
    IndexClause clause;
    clause.__set_expressions(expressions);
    clause.__set_start_key("");
    clause.__set_count(100);
    std::vector<KeySlice> rows;
    client.get_indexed_slices(rows, BOOKS, clause, names({"title"}), ONE);
    Strings found;
    for (const auto& row : rows) found.push_back(row.key);
    std::sort(found.begin(), found.end());
    return found;
  }

  void index() {
    const auto shelf = expression("shelf", IndexOperator::EQ, "a");
    const auto year = expression("year", IndexOperator::GTE, long_bytes(1910));
    check("a shelf", those({shelf}), books(0, 2));
    check("its later years", those({shelf, year}), books(10, 2));
    client.insert("book12", BOOKS, column("shelf", "c", 11), ONE);
    client.remove("book14", path("Books", ""), 11, ONE);
    check("after changes", those({shelf, year}), Strings{"book10", "book16", "book18"});
    refused<InvalidRequestException>("without an index", [&] { those({year}); });
  }

  static Mutation loan(int64_t year, const std::vector<Column>& columns) {
    SuperColumn super_column;
    super_column.__set_name(long_bytes(year));
    super_column.__set_columns(columns);
    ColumnOrSuperColumn entry;
    entry.__set_super_column(super_column);
    return write(entry);
  }

  void write_super_columns() {
    const auto of_2009 = parent("Loans", long_bytes(2009));
    client.batch_mutate({{"dune",
                          {{"Loans",
                            {loan(2010, {column("who", "ada"), column("until", "may")}),
                             loan(2009, {column("who", "bob")}), loan(-1, {column("who", "cyd")})}}}}},
                        ONE);
    client.insert("dune", of_2009, column("until", "june"), ONE);
    check("super columns", super_columns(slice("dune", LOANS, ALL)),
          Strings{"-1 who=cyd", "2009 until=june who=bob", "2010 until=may who=ada"});
    check("the columns of one", columns(slice("dune", parent("Loans", long_bytes(2010)), ALL)),
          Strings{"until=may", "who=ada"});
    check("one of them", pair(get("dune", path("Loans", "who", long_bytes(2009)))), "who=bob");
    client.remove("dune", path("Loans", "until", long_bytes(2010)), 11, ONE);
    client.remove("dune", path("Loans", "", long_bytes(-1)), 11, ONE);
    check("after removals, backwards", super_columns(slice("dune", LOANS, between("", "", true, 100))),
          Strings{"2010 who=ada", "2009 until=june who=bob"});
    check("a count", client.get_count("dune", LOANS, ALL, ONE), 2);
    check("a count of one", client.get_count("dune", of_2009, ALL, ONE), 2);
  }

  void mistakes() {
    const auto refuses = [&](const std::string& what, const std::string& key, const ColumnParent& parent,
                             const Column& column) {
      refused<InvalidRequestException>(what, [&] { client.insert(key, parent, column, ONE); });
    };
    refuses("three bytes are no long", "k", BOOKS, column("year", "abc"));
    refuses("no such column family", "k", parent("Nowhere"), column("a", "b"));
    refuses("no super column", "k", LOANS, column("a", "b"));
    refuses("no key", "", BOOKS, column("a", "b"));
    refused<InvalidRequestException>("no such keyspace", [&] { client.set_keyspace("Nowhere"); });
  }

#if LINE >= 100
  static CounterColumn counter(const std::string& name, int64_t value) {
    CounterColumn counter;
    counter.__set_name(name);
    counter.__set_value(value);
    return counter;
  }

  static Mutation add(const std::string& name, int64_t by) {
    ColumnOrSuperColumn entry;
    entry.__set_counter_column(counter(name, by));
    return write(entry);
  }

  void counters() {
    std::string text;
    auto family = definition("Visits", "UTF8Type");
    family.__set_default_validation_class("CounterColumnType");
    client.system_add_column_family(text, family);
    const auto visits = parent("Visits");
    const auto read = path("Visits", "read");
    client.add("dune", visits, counter("read", 5), ONE);
    client.add("dune", visits, counter("read", -2), ONE);
    ColumnOrSuperColumn found;
    client.get(found, "dune", read, ONE);
    check("a sum", found.counter_column.value, 3);
    client.batch_mutate({{"dune", {{"Visits", {add("read", 10), add("lent", 1)}}}}}, ONE);
    Strings sums;
    for (const auto& each : slice("dune", visits, ALL)) {
      sums.push_back(each.counter_column.name + "=" + std::to_string(each.counter_column.value));
    }
    check("two sums", sums, Strings{"lent=1", "read=13"});
    client.remove_counter("dune", read, ONE);
    refused<NotFoundException>("a counter that is gone", [&] { client.get(found, "dune", read, ONE); });
    refused<InvalidRequestException>("to write what counts",
                                     [&] { client.insert("dune", visits, column("read", "1"), ONE); });
  }
#endif

#if LINE >= 201
  Strings cas(const Strings& expected, const std::string& value) {
    std::vector<Column> keepers;
    for (const auto& each : expected) keepers.push_back(column("keeper", each));
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
    CASResult result;
    client.cas(result, "desk", "Books", keepers, {column("keeper", value, now)}, ConsistencyLevel::SERIAL,
               ConsistencyLevel::QUORUM);
    return result.success ? Strings{"done"} : pairs(result.current_values);
  }

  void compare_and_set() {
    check("the first", cas({}, "ada"), Strings{"done"});
    check("comes first", cas({}, "bob"), Strings{"keeper=ada"});
    check("not if another is there", cas({"eve"}, "bob"), Strings{"keeper=ada"});
    check("but if she is", cas({"ada"}, "bob"), Strings{"done"});
    check("so it is him", columns(slice("desk", BOOKS, ALL)), Strings{"keeper=bob"});
  }

  static ColumnSlice stretch(const std::string& start, const std::string& finish) {
    ColumnSlice slice;
    slice.__set_start(start);
    slice.__set_finish(finish);
    return slice;
  }

  void new_reads() {
    std::vector<Mutation> letters;
    for (char letter = 'a'; letter <= 'h'; letter++) letters.push_back(write(column(std::string(1, letter), "")));
    client.atomic_batch_mutate({{"abc", {{"Books", letters}}}, {"xyz", {{"Books", {write(column("shelf", "z"))}}}}},
                               ONE);
    MultiSliceRequest several;
    several.__set_key("abc");
    several.__set_column_parent(BOOKS);
    several.__set_column_slices({stretch("b", "d"), stretch("c", "e"), stretch("h", "")});
    several.__set_count(10);
    std::vector<ColumnOrSuperColumn> found;
    client.get_multi_slice(found, several);
    check("several ranges", columns(found), Strings{"b=", "c=", "d=", "e=", "h="});

    std::vector<KeySlice> page;
    client.get_paged_slice(page, "Books", rows("abc", "abc", 4), "c", ONE);
    check("one row", page.size(), 1u);
    check("from a column on", columns(page[0].columns), Strings{"c=", "d=", "e=", "f="});

    auto filtered = rows("", "", 100);
    filtered.__set_row_filter({expression("shelf", IndexOperator::EQ, "z")});
    client.get_range_slices(page, BOOKS, ALL, filtered, ONE);
    check("a filter", page.size(), 1u);
    check("finds", page[0].key, "xyz");
  }
#endif

  void expired() {
    std::this_thread::sleep_until(expires);
    refused<NotFoundException>("what has expired", [&] { get("dune", path("Books", "note")); });
    check("is not counted", client.get_count("dune", BOOKS, ALL, ONE), 3);
  }

  void change_schema() {
    std::string text;
    auto books = family("Books");
    books.__set_comment("all of them");
    client.system_update_column_family(text, books);
    check("an update", family("Books").comment, "all of them");
    check("leaves the rest", family("Books").column_metadata.size(), 2u);
    client.truncate("Books");
    std::vector<KeySlice> page;
    client.get_range_slices(page, BOOKS, ALL, rows("", "", 100), ONE);
    check("no rows", page.size(), 0u);
    check("others have theirs", client.get_count("dune", LOANS, ALL, ONE), 2);
    client.system_drop_column_family(text, "Loans");
    refused<InvalidRequestException>("a column family that is gone",
                                     [&] { client.get_count("dune", LOANS, ALL, ONE); });
    client.system_drop_keyspace(text, keyspace);
    KsDef found;
    refused<NotFoundException>("a keyspace that is gone", [&] { client.describe_keyspace(found, keyspace); });
  }
};

int main(int, char** arguments) {
  using namespace apache::thrift;
  int status = 0;
  try {
    auto socket = std::make_shared<transport::TSocket>(arguments[2], std::stoi(arguments[3]));
    auto framed = std::make_shared<transport::TFramedTransport>(socket);
    framed->open();
    CassandraClient client(std::make_shared<protocol::TBinaryProtocol>(framed));
    Library(client).run();
  } catch (const InvalidRequestException& refusal) {
    std::cout << "InvalidRequestException: " << refusal.why << '\n';
    status = 1;
  } catch (const std::exception& failure) {
    std::cout << failure.what() << '\n';
    status = 1;
  }
  std::cout << checks << " checks\n";
  return status;
}
