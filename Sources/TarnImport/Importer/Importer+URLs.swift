package import TarnStore

extension Importer {
    /// Returns the key that a URL names, by the templates of the entity.
    ///
    /// - Returns: nil if the entity declares no template that matches and has the whole key.
    package func key(ofURL url: String, entity: String) -> RecordKey? {
        guard let position = plan.position(of: entity), let matcher = plan.plans[position].url,
            let tape = try? parser.parse(text: JSONValue.string(url).text)
        else { return nil }
        var key = ByteWriter(capacity: 64)
        // The tape is stored in the parser's memory.
        let outcome = withExtendedLifetime(parser) { matcher.appendKey(tape, Tape.root, to: &key) }
        return outcome == .matched ? RecordKey(tuple: key.bytes) : nil
    }
}
