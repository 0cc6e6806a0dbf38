// Commands about many records at once: how many there are, which are missing, and how they would be found.

import Tarn

extension Output {
    /// Says where the next part of a list begins, if there is one.
    static func next(_ token: ContinuationToken?) {
        // Complete, however long it is.
        if let token { notes("More: repeat with `--after \(token.text)`") }
    }
}
