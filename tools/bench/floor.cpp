// The floor: what hand-written C++ on the same libraries does with the same pages, and no more than that.
// simdjson's DOM, one tagged blob per object (scalars only, no merging, no comparison, no report), mdb_put per object and per reference,
// one durable commit per PAGES_PER_COMMIT pages. The pages are read into memory before the clock starts.
// So it shows about what the machine allows for a naive import; it is not a limit.
//
//   g++ -O3 -std=c++17 floor.cpp -o floor -lsimdjson -llmdb
//   ./floor import PAGES_DIR STORE_DIR PAGES_PER_COMMIT     MB/s of JSON, durable
//   ./floor read STORE_DIR                                  point reads and relationship traversal, per second
//   ./floor import-read PAGES_DIR STORE_DIR PAGES_PER_COMMIT   the first without its figures, then the second
//   ./floor write-small STORE_DIR SECONDS                   rows of 300 bytes, 64 in a durable commit, at 64 places, per second
//   ./floor write-bulk STORE_DIR ROWS                       the same 10,000 in a commit, with a change log; per second
//   ./floor scale STORE_DIR RECORDS                         reads and changes of 1, 10 and 100 times RECORDS such rows, per second
//
// Standard output is one JSON object with the figures; standard error has them as text.
#include <lmdb.h>
#include <simdjson.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

enum Entity : uint8_t { ISSUE = 1, USER, LABEL, MILESTONE };
enum Reference : uint8_t { ISSUE_USER = 1, ISSUE_LABEL, ISSUE_ASSIGNEE, ISSUE_MILESTONE, MILESTONE_CREATOR };

MDB_env* env;
MDB_txn* txn;
MDB_dbi records, references;
std::string blob;
size_t puts, links;

// A busy machine must not count: one thread reads, and everything is in memory.
double thread_time() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void check(int rc, const char* what) {
  if (rc) { fprintf(stderr, "%s: %s\n", what, mdb_strerror(rc)); exit(1); }
}

void encode(simdjson::dom::object object) {
  blob.clear();
  for (auto field : object) {
    element v = field.value;
    switch (v.type()) {
      case element_type::STRING: {
        std::string_view s = v.get_string().value_unsafe();
        uint32_t n = s.size();
        blob.push_back(1); blob.append((char*)&n, 4); blob.append(s); break;
      }
      case element_type::INT64: { int64_t i = v.get_int64().value_unsafe(); blob.push_back(2); blob.append((char*)&i, 8); break; }
      case element_type::UINT64: { uint64_t i = v.get_uint64().value_unsafe(); blob.push_back(2); blob.append((char*)&i, 8); break; }
      case element_type::DOUBLE: { double d = v.get_double().value_unsafe(); blob.push_back(3); blob.append((char*)&d, 8); break; }
      case element_type::BOOL: blob.push_back(v.get_bool().value_unsafe() ? 4 : 5); break;
      case element_type::NULL_VALUE: blob.push_back(0); break;
      default: break;
    }
  }
}

void key(char* out, uint8_t kind, uint64_t id) {
  out[0] = kind;
  id = __builtin_bswap64(id);
  memcpy(out + 1, &id, 8);
}

void put(Entity entity, uint64_t id) {
  char k[9];
  key(k, entity, id);
  MDB_val K{9, k}, V{blob.size(), (void*)blob.data()};
  check(mdb_put(txn, records, &K, &V, 0), "put");
  puts++;
}

void link(Reference reference, uint64_t to, uint64_t from) {
  char k[17];
  key(k, reference, to);
  from = __builtin_bswap64(from);
  memcpy(k + 9, &from, 8);
  MDB_val K{17, k}, V{0, nullptr};
  check(mdb_put(txn, references, &K, &V, 0), "link");
  links++;
}

uint64_t put_user(element user) {
  uint64_t id = user["id"].get_uint64();
  encode(user);
  put(USER, id);
  return id;
}

void put_issue(element issue) {
  uint64_t id = issue["id"].get_uint64();
  link(ISSUE_USER, put_user(issue["user"]), id);
  simdjson::dom::array labels = issue["labels"].get_array(), assignees = issue["assignees"].get_array();
  for (element label : labels) {
    uint64_t label_id = label["id"].get_uint64();
    encode(label);
    put(LABEL, label_id);
    link(ISSUE_LABEL, label_id, id);
  }
  for (element user : assignees) link(ISSUE_ASSIGNEE, put_user(user), id);
  element milestone = issue["milestone"];
  if (!milestone.is_null()) {
    uint64_t milestone_id = milestone["id"].get_uint64(), creator = put_user(milestone["creator"]);
    encode(milestone);
    put(MILESTONE, milestone_id);
    link(ISSUE_MILESTONE, milestone_id, id);
    link(MILESTONE_CREATOR, creator, milestone_id);
  }
  encode(issue);
  put(ISSUE, id);
}

void open_store(const char* path) {
  mkdir(path, 0755);
  check(mdb_env_create(&env), "create");
  check(mdb_env_set_mapsize(env, 64ull << 30), "mapsize");
  check(mdb_env_set_maxdbs(env, 8), "maxdbs");
  check(mdb_env_open(env, path, MDB_NOTLS, 0644), "open");
  check(mdb_txn_begin(env, nullptr, 0, &txn), "begin");
  check(mdb_dbi_open(txn, "records", MDB_CREATE, &records), "dbi");
  check(mdb_dbi_open(txn, "references", MDB_CREATE, &references), "dbi");
  check(mdb_txn_commit(txn), "commit");
}

void import(const char* dir, int pages_per_commit, bool prints = true) {
  std::vector<std::string> files;
  for (auto& e : std::filesystem::directory_iterator(dir)) files.push_back(e.path());
  std::sort(files.begin(), files.end());
  std::vector<simdjson::padded_string> pages;
  double megabytes = 0;
  for (auto& f : files) {
    pages.push_back(simdjson::padded_string::load(f).value());
    megabytes += pages.back().size() / 1e6;
  }
  simdjson::dom::parser parser;
  double start = now();
  int n = 0, commits = 0;
  check(mdb_txn_begin(env, nullptr, 0, &txn), "begin");
  for (auto& page : pages) {
    simdjson::dom::array issues = parser.parse(page).get_array();
    for (element issue : issues) put_issue(issue);
    if (++n % pages_per_commit == 0) {
      check(mdb_txn_commit(txn), "commit");
      check(mdb_txn_begin(env, nullptr, 0, &txn), "begin");
      commits++;
    }
  }
  check(mdb_txn_commit(txn), "commit");  // LMDB writes nothing for a transaction that changed nothing
  if (n % pages_per_commit) commits++;
  double seconds = now() - start;
  fprintf(stderr, "import %.1f MB in %.3f s: %.0f MB/s (%zu puts, %zu references)\n", megabytes, seconds, megabytes / seconds, puts,
          links);
  MDB_stat records_stat, references_stat;
  check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), "begin");
  check(mdb_stat(txn, records, &records_stat), "stat");
  check(mdb_stat(txn, references, &references_stat), "stat");
  mdb_txn_abort(txn);
  if (prints) printf("{\"seconds\":%.6f,\"megabytes\":%.6f,\"commits\":%d,\"puts\":%zu,\"references\":%zu,\"stored_records\":%zu,"
         "\"stored_references\":%zu,\"durability\":\"full\",\"compression\":\"none\"}\n",
         seconds, megabytes, commits, puts, links, records_stat.ms_entries, references_stat.ms_entries);
}

void read() {
  const int N = 1'000'000;
  MDB_cursor* cursor;
  MDB_val K, V;
  std::mt19937_64 rnd(1);
  std::vector<std::string> issues;
  std::vector<std::string> users;
  check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), "begin");
  check(mdb_cursor_open(txn, records, &cursor), "cursor");
  for (int rc = mdb_cursor_get(cursor, &K, &V, MDB_FIRST); rc == 0; rc = mdb_cursor_get(cursor, &K, &V, MDB_NEXT)) {
    auto& list = ((char*)K.mv_data)[0] == ISSUE ? issues : users;
    if (((char*)K.mv_data)[0] <= USER) list.emplace_back((char*)K.mv_data, K.mv_size);
  }
  mdb_cursor_close(cursor);
  size_t sum = 0, visited = 0;
  double start = thread_time();
  for (int i = 0; i < N; i++) {
    auto& k = issues[rnd() % issues.size()];
    K = {k.size(), (void*)k.data()};
    check(mdb_get(txn, records, &K, &V), "get");
    sum += ((char*)V.mv_data)[V.mv_size / 2];
  }
  double point_reads = N / (thread_time() - start);
  fprintf(stderr, "point reads, one transaction: %.0f/s\n", point_reads);
  start = thread_time();
  for (int i = 0; i < N; i++) {
    mdb_txn_reset(txn);
    check(mdb_txn_renew(txn), "renew");
    auto& k = issues[rnd() % issues.size()];
    K = {k.size(), (void*)k.data()};
    check(mdb_get(txn, records, &K, &V), "get");
    sum += ((char*)V.mv_data)[V.mv_size / 2];
  }
  double renewed_reads = N / (thread_time() - start);
  fprintf(stderr, "point reads, a transaction each: %.0f/s\n", renewed_reads);
  check(mdb_cursor_open(txn, references, &cursor), "cursor");
  start = thread_time();
  for (int i = 0; i < 100'000; i++) {
    auto k = users[rnd() % users.size()];
    k[0] = ISSUE_USER;
    K = {k.size(), (void*)k.data()};
    for (int rc = mdb_cursor_get(cursor, &K, &V, MDB_SET_RANGE); rc == 0 && !memcmp(K.mv_data, k.data(), 9);
         rc = mdb_cursor_get(cursor, &K, &V, MDB_NEXT)) {
      char q[9];
      q[0] = ISSUE;
      memcpy(q + 1, (char*)K.mv_data + 9, 8);
      MDB_val QK{9, q};
      check(mdb_get(txn, records, &QK, &V), "get");
      sum += ((char*)V.mv_data)[10];
      visited++;
    }
  }
  double seconds = thread_time() - start;
  fprintf(stderr, "user -> issues: %.0f users/s, %.0f records/s (%zu)\n", 100'000 / seconds, visited / seconds, sum % 7);
  printf("{\"field\":%.0f,\"record\":%.0f,\"each\":%.0f,\"related\":%.0f,\"related_owners\":%.0f,\"durability\":\"full\","
         "\"compression\":\"none\"}\n",
         point_reads, point_reads, renewed_reads, visited / seconds, 100'000 / seconds);
}

// The form of a row that says what is in it, as Tarn's do: a header of 20 bytes, the number of fields, an id and the end of the value for
// each, and the values, each after a tag. Only `field` reads it; what is in a row does not matter to LMDB.
constexpr size_t HEADER = 20, VALUES = HEADER + 2 + 4 * 6;
constexpr uint16_t ENDS[6] = {9, 31, 42, 49, 51, 234};
constexpr uint8_t VERSION = 1, INTEGER = 3, COMMENTS = 5;

void lay_out(char* row, int64_t id) {
  uint16_t entity = 1, count = 6;
  row[0] = VERSION, row[1] = row[2] = 0;
  memcpy(row + 6, &entity, 2);
  memcpy(row + HEADER, &count, 2);
  for (uint16_t i = 0; i < count; i++) {
    uint16_t field = i + 1;
    memcpy(row + HEADER + 2 + 4 * i, &field, 2);
    memcpy(row + HEADER + 4 + 4 * i, &ENDS[i], 2);
  }
  row[VALUES + ENDS[COMMENTS - 2]] = INTEGER;
  row[VALUES + ENDS[COMMENTS - 2] + 1] = id % 100;
}

// The comments of such a row. Every offset is checked, since a file may be damaged.
uint8_t field(const MDB_val& value) {
  auto row = (const uint8_t*)value.mv_data;
  uint16_t entity, count, id, start, end;
  bool is_sound = value.mv_size >= HEADER + 2 && row[0] == VERSION && row[1] == 0 && row[2] == 0;
  if (is_sound) {
    memcpy(&entity, row + 6, 2);
    memcpy(&count, row + HEADER, 2);
    is_sound = entity == 1 && count >= COMMENTS && HEADER + 2 + 4u * count <= value.mv_size;
  }
  if (is_sound) {
    memcpy(&id, row + HEADER + 2 + 4 * (COMMENTS - 1), 2);
    memcpy(&start, row + HEADER + 4 * (COMMENTS - 1), 2);
    memcpy(&end, row + HEADER + 4 * COMMENTS, 2);
    is_sound = id == COMMENTS && start < end && VALUES + end <= value.mv_size && row[VALUES + start] == INTEGER;
  }
  if (!is_sound) { fprintf(stderr, "a row is damaged\n"); exit(1); }
  return row[VALUES + start + 1];
}

// A row of 300 bytes under an id.
void put_row(int64_t id) {
  char k[8], v[300];
  uint64_t ordered = __builtin_bswap64((uint64_t)id);
  memcpy(k, &ordered, 8);
  memset(v, 'a' + id % 26, sizeof v);
  lay_out(v, id);
  MDB_val K{8, k}, V{sizeof v, v};
  check(mdb_put(txn, records, &K, &V, 0), "put");
}

void write_small(double limit) {
  const int TASKS = 64;
  size_t rows = 0;
  double start = now(), seconds = 0;
  // The reference for the peer: one row per commit, as the peer must do it.
  for (; seconds < limit / 3; rows++) {
    check(mdb_txn_begin(env, nullptr, 0, &txn), "begin");
    put_row(1'000'000'000'000ll + rows);
    check(mdb_txn_commit(txn), "commit");
    seconds = now() - start;
  }
  size_t single = rows;
  double single_seconds = seconds;
  start = now(), seconds = 0;
  for (int64_t i = 0; seconds < limit; i++) {
    check(mdb_txn_begin(env, nullptr, 0, &txn), "begin");
    for (int task = 0; task < TASKS; task++, rows++) put_row(task * 10'000'000ll + i);
    check(mdb_txn_commit(txn), "commit");
    seconds = now() - start;
  }
  MDB_stat stat;
  check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), "begin");
  check(mdb_stat(txn, records, &stat), "stat");
  mdb_txn_abort(txn);
  printf("{\"small\":%.0f,\"single\":%.0f,\"stored\":%zu,\"written\":%zu,\"durability\":\"full\",\"compression\":\"none\"}\n",
         (rows - single) / seconds, single / single_seconds, stat.ms_entries, rows);
}

// Rows, and for each an entry of a change log: u64 commit, u32 ordinal -> operation, entity, key.
double write_rows(const std::vector<int64_t>& ids, const size_t ROWS_OF_COMMIT = 10'000, uint64_t commit = 0) {
  double start = now();
  for (size_t first = 0; first < ids.size(); first += ROWS_OF_COMMIT) {
    check(mdb_txn_begin(env, nullptr, 0, &txn), "begin");
    commit++;
    for (size_t i = first; i < std::min(first + ROWS_OF_COMMIT, ids.size()); i++) {
      put_row(ids[i]);
      char k[12], v[8];
      uint64_t c = __builtin_bswap64(commit), id = __builtin_bswap64((uint64_t)ids[i]);
      uint32_t ordinal = __builtin_bswap32((uint32_t)(i - first));
      memcpy(k, &c, 8);
      memcpy(k + 8, &ordinal, 4);
      memcpy(v, "\1\1\0", 3);
      memcpy(v + 3, (char*)&id + 3, 5);
      MDB_val K{sizeof k, k}, V{sizeof v, v};
      check(mdb_put(txn, references, &K, &V, MDB_APPEND), "log");
    }
    check(mdb_txn_commit(txn), "commit");
  }
  return ids.size() / (now() - start);
}

void write_bulk(const char* path, size_t rows) {
  std::vector<int64_t> ids(rows);
  for (size_t i = 0; i < rows; i++) ids[i] = i;
  mkdir(path, 0755);
  open_store((std::string(path) + "/ascending").c_str());
  double ascending = write_rows(ids);
  MDB_stat stat;
  size_t stored = 0;
  auto count = [&] {
    check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), "begin");
    for (MDB_dbi table : {records, references}) { check(mdb_stat(txn, table, &stat), "stat"); stored += stat.ms_entries; }
    mdb_txn_abort(txn);
    mdb_env_close(env);
  };
  count();
  // The same order as the others' (Writes.swift).
  uint64_t state = 7;
  for (size_t i = rows - 1; i > 0; i--) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::swap(ids[i], ids[(state >> 33) % (i + 1)]);
  }
  open_store((std::string(path) + "/random").c_str());
  double random = write_rows(ids);
  count();
  printf("{\"ascending\":%.0f,\"random\":%.0f,\"stored\":%zu,\"written\":%zu,\"durability\":\"full\",\"compression\":\"none\"}\n",
         ascending, random, stored / 2, 2 * rows);
}

// Rows of random keys and of ranges, and changes of them in commits of 1,000. Keys are even; what is inserted has odd ones.
void scale(const char* path, size_t base) {
  printf("{\"sizes\":{");
  size_t stored = 0, written = 0;
  mkdir(path, 0755);
  for (size_t size : {1, 10, 100}) {
    size_t rows = size * base, changes = std::min<size_t>(20'000, std::max<size_t>(rows / 2, 1));
    std::vector<int64_t> ids(rows);
    for (size_t i = 0; i < rows; i++) ids[i] = 2 * i;
    open_store((std::string(path) + "/" + std::to_string(size)).c_str());
    write_rows(ids);
    // The same places as the others' (Scale.swift).
    size_t step = rows * 618 / 1000 | 1;
    while (std::gcd(step, rows) != 1) step += 2;
    auto place = [&](size_t i) { return (i * step + 7) % rows; };
    std::vector<uint64_t> keys(std::min<size_t>(rows, 1 << 16));
    for (size_t i = 0; i < keys.size(); i++) keys[i] = __builtin_bswap64(2 * place(i));
    std::mt19937_64 rnd(3);
    std::vector<uint64_t> picks(1 << 18);
    for (auto& pick : picks) pick = keys[rnd() % keys.size()];
    MDB_cursor* cursor;
    MDB_val K, V;
    size_t sum = 0, read = 0;
    check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), "begin");
    check(mdb_cursor_open(txn, records, &cursor), "cursor");
    double start = thread_time(), seconds = 0;
    for (; seconds < 1; seconds = thread_time() - start)
      for (int i = 0; i < 4096; i++, read++) {
        K = {8, &picks[read % picks.size()]};
        check(mdb_get(txn, records, &K, &V), "get");
        sum += ((char*)V.mv_data)[V.mv_size / 2];
      }
    double read_rate = read / seconds;
    // Of each row one byte, wherever it is; and one field.
    auto ranges = [&](auto&& taken) {
      size_t ranged = 0;
      double start = thread_time(), seconds = 0;
      for (size_t i = 0; seconds < 1; seconds = thread_time() - start, i++) {
        K = {8, &picks[i % picks.size()]};
        int left = 100;
        for (int rc = mdb_cursor_get(cursor, &K, &V, MDB_SET_RANGE); rc == 0 && left > 0; rc = mdb_cursor_get(cursor, &K, &V, MDB_NEXT)) {
          sum += taken(V);
          ranged++, left--;
        }
      }
      return ranged / seconds;
    };
    double range_rate = ranges([](const MDB_val& value) { return ((char*)value.mv_data)[value.mv_size / 2]; });
    double field_rate = ranges([](const MDB_val& value) { return field(value); });
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    auto changed = [&](int odd) {
      std::vector<int64_t> ids(changes);
      for (size_t i = 0; i < changes; i++) ids[i] = 2 * place(i) + odd;
      // In the order of their keys, commit by commit.
      for (size_t i = 0; i < changes; i += 1000) std::sort(ids.begin() + i, ids.begin() + std::min(i + 1000, changes));
      return write_rows(ids, 1000, 1'000'000 * (2 - odd));
    };
    double insert = changed(1), update = changed(0);
    MDB_stat stat;
    check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), "begin");
    check(mdb_stat(txn, records, &stat), "stat");
    mdb_txn_abort(txn);
    mdb_env_close(env);
    stored += stat.ms_entries, written += rows + changes;
    fprintf(stderr, "%zu rows (%zu)\n", rows, sum % 7);
    printf("%s\"%zu\":{\"read\":%.0f,\"range\":%.0f,\"range_field\":%.0f,\"insert\":%.0f,\"update\":%.0f}", size == 1 ? "" : ",", size,
           read_rate, range_rate, field_rate, insert, update);
  }
  printf("},\"stored\":%zu,\"written\":%zu,\"durability\":\"full\",\"compression\":\"none\"}\n", stored, written);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && !strcmp(argv[1], "import") && atoi(argv[4]) > 0) { open_store(argv[3]); import(argv[2], atoi(argv[4])); }
  else if (argc == 5 && !strcmp(argv[1], "import-read") && atoi(argv[4]) > 0) { open_store(argv[3]); import(argv[2], atoi(argv[4]), false); read(); }
  else if (argc == 3 && !strcmp(argv[1], "read")) { open_store(argv[2]); read(); }
  else if (argc == 4 && !strcmp(argv[1], "write-small") && atof(argv[3]) > 0) { open_store(argv[2]); write_small(atof(argv[3])); }
  else if (argc == 4 && !strcmp(argv[1], "write-bulk") && atoll(argv[3]) > 0) write_bulk(argv[2], atoll(argv[3]));
  else if (argc == 4 && !strcmp(argv[1], "scale") && atoll(argv[3]) > 0) scale(argv[2], atoll(argv[3]));
  else {
    fprintf(stderr, "usage: floor import|import-read PAGES_DIR STORE_DIR PAGES_PER_COMMIT | floor read STORE_DIR\n"
                    "       floor write-small STORE_DIR SECONDS | floor write-bulk STORE_DIR ROWS\n"
                    "       floor scale STORE_DIR RECORDS\n");
    return 2;
  }
  return 0;
}
