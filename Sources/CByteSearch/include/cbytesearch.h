// The search for a sequence of bytes, 64 positions at a time, by AVX2.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A sequence of `count` bytes. Before a byte of a text is compared, the bits of `folds` at the same place are set in it. `first` and
// `second` are the places of the two bytes that are compared first: the rarest ones; `first` ≤ `second` < `count`.
typedef struct {
  const uint8_t *bytes, *folds;
  size_t count, first, second;
} tarn_byte_pattern;

// Whether this processor has the instructions.
bool tarn_byte_search_is_available(void);

// The offset of the first occurrence in a text, `count` if there is none. Only if it is available.
size_t tarn_byte_search(const void *text, size_t count, const tarn_byte_pattern *pattern);
