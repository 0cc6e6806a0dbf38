// A bound of `import.cold`: hand-written C++ that parses the same pages and stores what Tarn stores, compressed, each record once and in
// the order of keys, with an index of every reference, on two threads. It does nothing else: nothing is merged, compared with what is
// stored, logged, checked, or reported; its dictionary is trained before the clock starts; its layout is fixed at compile time.
// Nobody who does more can be faster than the processor time that it takes, on two processors half of it.
//
//   g++ -O3 -std=c++17 -pthread bound.cpp -o bound -lsimdjson -llmdb -lzstd
//   ./bound PAGES_DIR STORE_DIR
#include <lmdb.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/stat.h>
#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

constexpr size_t LONG = 24;  // Texts from this length on are compressed together.
constexpr int LEVEL = 3;     // RowCompression.level

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double processor_time() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](timeval t) { return t.tv_sec + t.tv_usec / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A temporary result does not live as long as a loop over its array.
simdjson::dom::array elements(simdjson::simdjson_result<element> of) { return of.get_array(); }

void check(int rc, const char* what) {
  if (rc) { fprintf(stderr, "%s: %s\n", what, mdb_strerror(rc)); exit(1); }
}

// The scalars of an object, in a row: a header, a directory, short values, then a frame of the long ones.
struct Encoder {
  std::string row, lengthy;
  ZSTD_CCtx* context = ZSTD_createCCtx();

  void gather(object of) {
    row.assign(20 + 2 + 24 * 4, '\0');
    lengthy.clear();
    for (auto field : of) {
      element v = field.value;
      if (field.key == "reactions") continue;
      switch (v.type()) {
        case element_type::STRING: {
          std::string_view s = v.get_string().value_unsafe();
          (s.size() < LONG ? row : lengthy).append(s);
          break;
        }
        case element_type::INT64: { int64_t i = v.get_int64().value_unsafe(); row.append((char*)&i, 8); break; }
        case element_type::UINT64: { uint64_t i = v.get_uint64().value_unsafe(); row.append((char*)&i, 8); break; }
        case element_type::DOUBLE: { double d = v.get_double().value_unsafe(); row.append((char*)&d, 8); break; }
        case element_type::BOOL: row.push_back(v.get_bool().value_unsafe()); break;
        default: break;
      }
    }
  }

  std::string encode(object of, const ZSTD_CDict* dictionary) {
    gather(of);
    size_t start = row.size(), room = ZSTD_compressBound(lengthy.size());
    row.resize(start + room);
    size_t size = ZSTD_compress_usingCDict(context, row.data() + start, room, lengthy.data(), lengthy.size(), dictionary);
    if (ZSTD_isError(size)) { fprintf(stderr, "zstd: %s\n", ZSTD_getErrorName(size)); exit(1); }
    row.resize(start + size);
    return row;
  }
};

struct Record { uint8_t entity; uint64_t id; std::string row; };
struct Link { uint8_t reference; uint64_t to, from; };

struct Part {
  std::vector<Record> records;
  std::vector<Link> links;
  std::unordered_set<uint64_t> known[5];
};

ZSTD_CDict* trained(const std::vector<simdjson::padded_string>& pages) {
  std::string samples, dictionary(64 << 10, '\0');
  std::vector<size_t> sizes;
  Encoder encoder;
  simdjson::dom::parser parser;
  for (size_t i = 0; i < std::min<size_t>(10, pages.size()); i++)
    for (element issue : elements(parser.parse(pages[i]))) {
      encoder.gather(issue);
      samples += encoder.lengthy;
      sizes.push_back(encoder.lengthy.size());
    }
  ZDICT_fastCover_params_t parameters{};
  parameters.k = 200, parameters.d = 8, parameters.f = 18, parameters.accel = 2, parameters.splitPoint = 1;
  size_t size = ZDICT_trainFromBuffer_fastCover(dictionary.data(), dictionary.size(), samples.data(), sizes.data(), sizes.size(), parameters);
  if (ZDICT_isError(size)) { fprintf(stderr, "zstd: no dictionary\n"); exit(1); }
  return ZSTD_createCDict(dictionary.data(), size, LEVEL);
}

void draft(const std::vector<simdjson::padded_string>& pages, std::atomic<size_t>& next, const ZSTD_CDict* dictionary, Part& part) {
  Encoder encoder;
  simdjson::dom::parser parser;
  auto keep = [&](uint8_t entity, element of) {
    uint64_t id = of["id"].get_uint64();
    if (part.known[entity].insert(id).second) part.records.push_back({entity, id, encoder.encode(of, dictionary)});
    return id;
  };
  for (size_t i; (i = next++) < pages.size();)
    for (element issue : elements(parser.parse(pages[i]))) {
      uint64_t id = issue["id"].get_uint64();
      part.records.push_back({1, id, encoder.encode(issue, dictionary)});
      part.links.push_back({1, keep(2, issue["user"]), id});
      for (element label : elements(issue["labels"])) part.links.push_back({2, keep(3, label), id});
      for (element user : elements(issue["assignees"])) part.links.push_back({3, keep(2, user), id});
      element milestone = issue["milestone"];
      if (milestone.is_null()) continue;
      uint64_t to = keep(4, milestone);
      part.links.push_back({4, to, id});
      part.links.push_back({5, keep(2, milestone["creator"]), to});
    }
}

void key(char* out, uint8_t kind, uint64_t id) {
  out[0] = kind;
  id = __builtin_bswap64(id);
  memcpy(out + 1, &id, 8);
}

size_t store(const char* path, std::vector<Part>& parts) {
  std::vector<Record*> records;
  std::vector<Link> links;
  for (auto& part : parts) {
    for (auto& record : part.records) records.push_back(&record);
    links.insert(links.end(), part.links.begin(), part.links.end());
  }
  std::sort(records.begin(), records.end(), [](auto a, auto b) { return std::pair(a->entity, a->id) < std::pair(b->entity, b->id); });
  std::sort(links.begin(), links.end(), [](auto& a, auto& b) { return std::tuple(a.reference, a.to, a.from) < std::tuple(b.reference, b.to, b.from); });
  MDB_env* env;
  MDB_txn* txn;
  MDB_dbi table, references;
  mkdir(path, 0755);
  check(mdb_env_create(&env), "create");
  check(mdb_env_set_mapsize(env, 64ull << 30), "mapsize");
  check(mdb_env_set_maxdbs(env, 8), "maxdbs");
  check(mdb_env_open(env, path, MDB_NOTLS, 0644), "open");
  check(mdb_txn_begin(env, nullptr, 0, &txn), "begin");
  check(mdb_dbi_open(txn, "records", MDB_CREATE, &table), "dbi");
  check(mdb_dbi_open(txn, "references", MDB_CREATE, &references), "dbi");
  size_t stored = 0;
  const Record* last = nullptr;
  for (auto record : records) {
    // A record in the pages of both threads is stored once.
    if (last && last->entity == record->entity && last->id == record->id) continue;
    last = record;
    char k[9];
    key(k, record->entity, record->id);
    MDB_val K{9, k}, V{record->row.size(), record->row.data()};
    check(mdb_put(txn, table, &K, &V, MDB_APPEND), "put");
    stored++;
  }
  const Link* before = nullptr;
  for (auto& link : links) {
    if (before && before->reference == link.reference && before->to == link.to && before->from == link.from) continue;
    before = &link;
    char k[17];
    key(k, link.reference, link.to);
    uint64_t from = __builtin_bswap64(link.from);
    memcpy(k + 9, &from, 8);
    MDB_val K{17, k}, V{0, nullptr};
    check(mdb_put(txn, references, &K, &V, MDB_APPEND), "link");
  }
  check(mdb_txn_commit(txn), "commit");
  mdb_env_close(env);
  return stored;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) { fprintf(stderr, "usage: bound PAGES_DIR STORE_DIR\n"); return 2; }
  std::vector<std::string> files;
  for (auto& e : std::filesystem::directory_iterator(argv[1])) files.push_back(e.path());
  std::sort(files.begin(), files.end());
  std::vector<simdjson::padded_string> pages;
  double megabytes = 0;
  for (auto& f : files) {
    pages.push_back(simdjson::padded_string::load(f).value());
    megabytes += pages.back().size() / 1e6;
  }
  const ZSTD_CDict* dictionary = trained(pages);
  double start = now(), processor = processor_time();
  std::vector<Part> parts(2);
  std::atomic<size_t> next{0};
  std::thread other([&] { draft(pages, next, dictionary, parts[1]); });
  draft(pages, next, dictionary, parts[0]);
  other.join();
  double drafted = now() - start;
  size_t stored = store(argv[2], parts);
  double seconds = now() - start;
  processor = processor_time() - processor;
  fprintf(stderr, "%.1f MB in %.3f s (drafted in %.3f): %.0f MB/s; %.3f s of processor time, %.0f MB/s if two processors shared it\n", megabytes,
          seconds, drafted, megabytes / seconds, processor, 2 * megabytes / processor);
  struct stat file;
  if (stat((std::string(argv[2]) + "/data.mdb").c_str(), &file)) return 1;
  printf("{\"seconds\":%.6f,\"processor_seconds\":%.6f,\"megabytes\":%.6f,\"records\":%zu,\"bytes\":%lld,\"durability\":\"full\",\"compression\":\"zstd\"}\n",
         seconds, processor, megabytes, stored, (long long)file.st_size);
}
