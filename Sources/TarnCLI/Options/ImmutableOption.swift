import ArgumentParser
import Foundation

/// The flag `--immutable`.
struct ImmutableOption: ParsableArguments {
    @Flag(
        help:
            "Read without locks. Only for a store that no process writes to: read-only media, or no permission to lock."
    )
    var immutable = false
}
