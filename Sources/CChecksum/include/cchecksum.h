// CRC-32C (Castagnoli) by the processor's own instruction.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether this processor has the instruction: SSE 4.2 on x86-64, the CRC extension on arm64.
bool tarn_crc32c_is_available(void);

// The state after `count` more bytes, without the inversions at the beginning and the end. Only if it is available.
uint32_t tarn_crc32c(uint32_t state, const void *bytes, size_t count);

// The checksum of a row of at least 12 bytes: of the table, the key, the row's bytes 0–7 and 12 to the end. Only if it is available.
uint32_t tarn_crc32c_of_row(uint32_t table, const void *key, size_t key_count, const void *row, size_t count);

// A key, and directly behind it a row of `count` bytes: at least 20, which is the size of its header.
typedef struct {
  const void *key;
  size_t key_count, count;
} tarn_stored_row;

// Whether each row has the checksum of `tarn_crc32c_of_row` in its bytes 8–11. Only if it is available.
bool tarn_crc32c_rows_are_valid(uint32_t table, const tarn_stored_row *rows, size_t count);
