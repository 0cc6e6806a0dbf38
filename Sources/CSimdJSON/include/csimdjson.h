// simdjson's DOM parser behind a C interface: a document's tape and strings, to be walked from Swift.
//
// The tape is simdjson's documented one (doc/tape.md): 64-bit words, the type in the top 8 bits, the payload in the rest.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tarn_json_parser tarn_json_parser;

typedef struct {
  const uint64_t *tape;     // valid until the next parse
  const uint8_t *strings;   // likewise: a 32-bit length, the bytes, a NUL
  size_t tape_count;        // words on the tape
  const uint32_t *structurals;  // byte offsets of { } [ ] : , and of the first byte of every string and scalar, in order
  size_t structural_count;
  int32_t error;            // 0 is success; where and why is another parser's to say
} tarn_json_document;

// The version of simdjson, such as "3.0.1"; a constant.
const char *tarn_json_version(void);

// NULL if there is no memory.
tarn_json_parser *tarn_json_parser_new(size_t maximum_depth);
void tarn_json_parser_free(tarn_json_parser *parser);

// The bytes must be followed by at least tarn_json_padding() readable ones.
size_t tarn_json_padding(void);
tarn_json_document tarn_json_parse(tarn_json_parser *parser, const uint8_t *bytes, size_t count);

// Finds the structurals only: no tape, and an error only for what simdjson's first stage refuses.
tarn_json_document tarn_json_index(tarn_json_parser *parser, const uint8_t *bytes, size_t count);

#ifdef __cplusplus
}
#endif
