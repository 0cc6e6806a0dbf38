// The instruction takes eight bytes in three cycles, one after the other: several streams at once would pay only for inputs
// that are longer than rows are.
#include "cchecksum.h"

#include <string.h>

#if defined(__x86_64__)
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#define STEP8(state, word) (uint32_t) __builtin_ia32_crc32di(state, word)
#define STEP4(state, word) __builtin_ia32_crc32si(state, word)
#define STEP2(state, word) __builtin_ia32_crc32hi(state, word)
#define STEP1(state, byte) __builtin_ia32_crc32qi(state, byte)

bool tarn_crc32c_is_available(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__) && defined(__linux__) && !defined(__AARCH64EB__)
#include <sys/auxv.h>
#define WITH_INSTRUCTION __attribute__((target("crc")))
#define STEP8(state, word) __builtin_arm_crc32cd(state, word)
#define STEP4(state, word) __builtin_arm_crc32cw(state, word)
#define STEP2(state, word) __builtin_arm_crc32ch(state, word)
#define STEP1(state, byte) __builtin_arm_crc32cb(state, byte)

// asm/hwcap.h: HWCAP_CRC32
bool tarn_crc32c_is_available(void) { return getauxval(AT_HWCAP) & 1 << 7; }

#else
#define WITH_INSTRUCTION
#define STEP8(state, word) (state)
#define STEP4(state, word) (state)
#define STEP2(state, word) (state)
#define STEP1(state, byte) (state)

bool tarn_crc32c_is_available(void) { return false; }
#endif

WITH_INSTRUCTION
static inline uint32_t update(uint32_t state, const uint8_t *next, size_t count) {
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    state = STEP8(state, word);
  }
  if (count & 4) {
    uint32_t word;
    memcpy(&word, next, 4);
    state = STEP4(state, word);
    next += 4;
  }
  if (count & 2) {
    uint16_t word;
    memcpy(&word, next, 2);
    state = STEP2(state, word);
    next += 2;
  }
  if (count & 1) state = STEP1(state, *next);
  return state;
}

WITH_INSTRUCTION
uint32_t tarn_crc32c(uint32_t state, const void *bytes, size_t count) { return update(state, bytes, count); }

WITH_INSTRUCTION
uint32_t tarn_crc32c_of_row(uint32_t table, const void *key, size_t key_count, const void *row, size_t count) {
  const uint8_t *bytes = row;
  uint32_t state = STEP4(0xFFFFFFFF, table);
  state = update(state, key, key_count);
  state = update(state, bytes, 8);
  return ~update(state, bytes + 12, count - 12);
}
