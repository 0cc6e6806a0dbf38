// The values that mapping sources take from outside of the records, once per document, as JSON on a
// separate tape.

internal import TarnStore

final class DocumentValues {
    /// An unretained reference, passed on for every record without reference counting.
    typealias Reference = Unmanaged<DocumentValues>

    /// The parser of the values; nil if there are no sources.
    private let parser: JSONParser?
    private(set) var tape: Tape?
    /// For each source, the place of its value on the tape; -1 if it is absent.
    private(set) var places: [Int] = []
    /// The hook that completes keys.
    var keyInjection: ImportHooks.KeyInjection?
    /// The position of the first record that the document lists.
    private(set) var firstPosition = 0
    /// Whether the mapping takes names of members.
    let takesNames: Bool
    /// The names of members in which records of the document were found.
    private var names: [[UInt8]] = []

    /// - Parameters:
    ///   - hasSources: whether the mapping has document sources.
    ///   - takesNames: whether it takes names of members.
    init(hasSources: Bool, takesNames: Bool) throws(ImportError) {
        parser = hasSources ? try JSONParser() : nil
        self.takesNames = takesNames
    }

    /// Keeps the name of a member for the record that was found in it, or for those of its list.
    ///
    /// - Parameter place: the place of the name on the tape; -1 for none.
    /// - Returns: the number of the name; -1 for none, or if the mapping takes no names.
    func keepName(_ place: Int, _ tape: Tape) -> Int32 {
        guard takesNames, place >= 0 else { return -1 }
        names.append(Array(tape.string(place)))
        return Int32(names.count - 1)
    }

    /// Returns the name with a number.
    func name(_ number: Int32) -> [UInt8] { names[Int(number)] }

    /// Collects the values of the sources from a document and its context.
    ///
    /// - Parameter document: the whole document; nil if it is read in parts.
    func fill(_ sources: [DocumentSource], _ context: ImportContext, _ document: Tape?) {
        firstPosition = context.firstPosition
        names.removeAll(keepingCapacity: true)
        places = Array(repeating: -1, count: sources.count)
        tape = nil
        guard let parser, !sources.isEmpty else { return }
        var text = ByteWriter(), present: [Int] = []
        text.append(UInt8(ascii: "["))
        for (index, source) in sources.enumerated() {
            let before = text.count
            if !present.isEmpty { text.append(UInt8(ascii: ",")) }
            if DocumentValues.append(source, context, document, to: &text) {
                present.append(index)
            } else {
                text.truncate(to: before)
            }
        }
        text.append(UInt8(ascii: "]"))
        // An invalid constant of a program makes all values absent. `Mapping.problems(for:)`
        // reports it.
        guard let tape = try? parser.parse(text.bytes) else { return }
        self.tape = tape
        var next = 0
        tape.forEachElement(Tape.root) { place in
            if next < present.count { places[present[next]] = place }
            next += 1
        }
    }

    /// Appends a value as JSON. Returns false if it is absent; the caller then truncates the text.
    private static func append(
        _ source: DocumentSource, _ context: ImportContext, _ document: Tape?, to text: inout ByteWriter
    ) -> Bool {
        func append(_ string: String?) -> Bool {
            guard let string else { return false }
            var json = ""
            json.appendJSONString(string)
            text.append(json)
            return true
        }
        switch source {
        case .constant(let value):
            text.append(value.text)
            return true
        case .header(let name): return append(context.headers[name])
        case .parameter(let name): return append(context.parameters[name])
        case .root(let steps, let isList, let isFlat):
            guard let document else { return false }
            var found: [Int] = []
            let isThere = document.forEach(at: steps[...], from: Tape.root) { place, _ in found.append(place) }
            guard isThere else { return false }
            guard isList else {
                guard let first = found.first(where: { document.kind($0) != .null }) ?? found.first else {
                    return false
                }
                document.appendText(first, to: &text)
                return true
            }
            // As for all values: if all of them are null, the result is null.
            guard found.isEmpty || found.contains(where: { document.kind($0) != .null }) else {
                text.append("null")
                return true
            }
            var elements: [Int] = []
            for place in found {
                if isFlat, document.kind(place) == .array {
                    document.forEachElement(place) { elements.append($0) }
                } else {
                    elements.append(place)
                }
            }
            text.append(UInt8(ascii: "["))
            for (index, place) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                document.appendText(place, to: &text)
            }
            text.append(UInt8(ascii: "]"))
            return true
        }
    }
}
