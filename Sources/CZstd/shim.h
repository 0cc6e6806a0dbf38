// zstd, with its trainer of dictionaries.
#pragma once
#include <zstd.h>
#include <zdict.h>
