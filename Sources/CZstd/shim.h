// zstd, with its trainer of dictionaries.
#pragma once
#include <zstd.h>
// For the trainer whose parameters are given. The shared library has it; zdict.h shows it on request only.
#define ZDICT_STATIC_LINKING_ONLY
#include <zdict.h>
