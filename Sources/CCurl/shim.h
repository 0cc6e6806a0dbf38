// libcurl. curl_easy_setopt and its like are variadic macros, which Swift cannot call: one inline function a type.
#pragma once
#include <curl/curl.h>
