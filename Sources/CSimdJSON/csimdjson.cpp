#include "csimdjson.h"

#include <simdjson.h>

#include <new>

struct tarn_json_parser {
  simdjson::dom::parser parser;
  size_t maximum_depth;
};

extern "C" {

tarn_json_parser *tarn_json_parser_new(size_t maximum_depth) {
  auto *result = new (std::nothrow) tarn_json_parser();
  if (result) result->maximum_depth = maximum_depth;
  return result;
}

void tarn_json_parser_free(tarn_json_parser *parser) { delete parser; }

size_t tarn_json_padding(void) { return simdjson::SIMDJSON_PADDING; }

static simdjson::error_code make_room(tarn_json_parser *p, size_t count) {
  if (p->parser.capacity() >= count && p->parser.max_depth() == p->maximum_depth) return simdjson::SUCCESS;
  size_t capacity = count < 65536 ? 65536 : count;
  return p->parser.allocate(capacity, p->maximum_depth);
}

static void set_structurals(tarn_json_document *result, tarn_json_parser *p) {
  result->structurals = p->parser.implementation->structural_indexes.get();
  result->structural_count = p->parser.implementation->n_structural_indexes;
}

tarn_json_document tarn_json_index(tarn_json_parser *p, const uint8_t *bytes, size_t count) {
  tarn_json_document result = {nullptr, nullptr, 0, nullptr, 0, 0};
  simdjson::error_code error = make_room(p, count);
  if (!error) error = p->parser.implementation->stage1(bytes, count, simdjson::stage1_mode::regular);
  result.error = (int32_t)error;
  if (!error) set_structurals(&result, p);
  return result;
}

tarn_json_document tarn_json_parse(tarn_json_parser *p, const uint8_t *bytes, size_t count) {
  tarn_json_document result = {nullptr, nullptr, 0, nullptr, 0, 0};
  simdjson::error_code error = make_room(p, count);
  if (!error) error = p->parser.parse(bytes, count, false).error();
  if (error) {
    result.error = (int32_t)error;
    return result;
  }
  result.tape = p->parser.doc.tape.get();
  result.strings = p->parser.doc.string_buf.get();
  // The root word's payload is the index one past the closing root word.
  result.tape_count = (size_t)(result.tape[0] & 0x00FFFFFFFFFFFFFFull);
  set_structurals(&result, p);
  return result;
}

#define TARN_TEXT_OF(value) #value
#define TARN_TEXT(value) TARN_TEXT_OF(value)
const char *tarn_json_version(void) { return TARN_TEXT(SIMDJSON_VERSION); }

}  // extern "C"
