// Two bytes of the pattern are compared at 64 positions at a time, and the others only where both fit. In C, since Swift cannot compile a
// function for instructions that not every processor has.
#include "cbytesearch.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define WITH_INSTRUCTIONS __attribute__((target("avx2,bmi")))

bool tarn_byte_search_is_available(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"); }

static inline bool is_match(const uint8_t *text, const tarn_byte_pattern *pattern) {
  for (size_t i = 0; i < pattern->count; i++)
    if ((text[i] | pattern->folds[i]) != pattern->bytes[i]) return false;
  return true;
}

// A byte of the pattern in each lane, and the bits to set before the comparison.
typedef struct {
  __m256i byte, fold;
} lanes;

WITH_INSTRUCTIONS
static inline lanes lanes_of(const tarn_byte_pattern *pattern, size_t place) {
  return (lanes){_mm256_set1_epi8((char)pattern->bytes[place]), _mm256_set1_epi8((char)pattern->folds[place])};
}

WITH_INSTRUCTIONS
static inline __m256i equal(const uint8_t *text, lanes wanted, bool folded) {
  __m256i found = _mm256_loadu_si256((const __m256i *)text);
  return _mm256_cmpeq_epi8(folded ? _mm256_or_si256(found, wanted.fold) : found, wanted.byte);
}

// The positions, one bit each, of 32 neighbouring ones at which both bytes fit.
WITH_INSTRUCTIONS
static inline __m256i near(const uint8_t *text, const tarn_byte_pattern *pattern, lanes a, lanes b, bool folded) {
  return _mm256_and_si256(equal(text + pattern->first, a, folded), equal(text + pattern->second, b, folded));
}

// The first match of the positions whose bits are set; nothing if there is none.
WITH_INSTRUCTIONS
static inline const uint8_t *match_of(const uint8_t *text, uint64_t positions, const tarn_byte_pattern *pattern) {
  for (; positions; positions &= positions - 1) {
    const uint8_t *candidate = text + __builtin_ctzll(positions);
    if (is_match(candidate, pattern)) return candidate;
  }
  return NULL;
}

WITH_INSTRUCTIONS
static inline size_t search(const uint8_t *text, size_t count, const tarn_byte_pattern *pattern, bool folded) {
  // Every position at which the pattern can begin.
  size_t positions = count - pattern->count + 1, position = 0;
  lanes a = lanes_of(pattern, pattern->first), b = lanes_of(pattern, pattern->second);
  for (; position + 64 <= positions; position += 64) {
    __m256i low = near(text + position, pattern, a, b, folded);
    __m256i high = near(text + position + 32, pattern, a, b, folded);
    __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any)) continue;
    uint64_t bits = (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
    const uint8_t *found = match_of(text + position, bits, pattern);
    if (found) return (size_t)(found - text);
  }
  while (position < positions && positions >= 32) {
    // The last block may begin before the position: those that were seen are left out.
    size_t start = position + 32 <= positions ? position : positions - 32;
    uint64_t bits = (uint32_t)_mm256_movemask_epi8(near(text + start, pattern, a, b, folded));
    const uint8_t *found = match_of(text + start, bits >> (position - start) << (position - start), pattern);
    if (found) return (size_t)(found - text);
    position = start + 32;
  }
  for (; position < positions; position++)
    if (is_match(text + position, pattern)) return position;
  return count;
}

WITH_INSTRUCTIONS
size_t tarn_byte_search(const void *text, size_t count, const tarn_byte_pattern *pattern) {
  if (pattern->count == 0 || count < pattern->count) return count;
  bool folded = pattern->folds[pattern->first] | pattern->folds[pattern->second];
  return folded ? search(text, count, pattern, true) : search(text, count, pattern, false);
}

#else
bool tarn_byte_search_is_available(void) { return false; }

size_t tarn_byte_search(const void *text, size_t count, const tarn_byte_pattern *pattern) {
  (void)text, (void)pattern;
  return count;
}
#endif
