// The continuation token of a list.

import Tarn

extension Output {
    /// Prints the token for the next part of a list, if there is one.
    static func next(_ token: ContinuationToken?) {
        // `notes` does not cut the token.
        if let token { notes("More: repeat with `--after \(token.text)`") }
    }
}
