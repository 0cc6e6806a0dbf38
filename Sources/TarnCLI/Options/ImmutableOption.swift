import ArgumentParser
import Foundation
import Tarn

/// The flag `--immutable`.
struct ImmutableOption: ParsableArguments {
    @Flag(
        help:
            "Read without locks: only for a store to which nothing writes, on read-only media or without permission to lock."
    )
    var immutable = false
}
