// liblmdb as Debian ships it. Macros that Swift cannot import are repeated here as constants or inline functions.
#pragma once
#include <lmdb.h>
