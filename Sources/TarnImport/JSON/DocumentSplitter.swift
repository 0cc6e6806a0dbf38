// A splitter of documents that arrive in pieces: cuts the list of records between its elements. The
// document is never in memory as a whole.
//
//   {"meta": {…}, "items": [ e₁, e₂, e₃, e₄, e₅ ], "next": null}
//   └───────── frame ──────┘└── part ──┘└ part ─┘└─── frame ───┘
//
// A part is the text between two commas of the list, in brackets of its own. The frame is
// everything else, with an empty list. The splitter follows only brackets, strings and the keys on
// the way to the list. The parsers decide whether parts and frame are JSON. They get every byte
// except the commas at the cuts, so no invalid document passes unnoticed.

internal import TarnStore

struct DocumentSplitter: ~Copyable {
    /// The error of an exceeded limit.
    struct Excess: Error {
        var what: ImportError.Excess
    }

    /// A part of the list as a document of its own.
    struct Part {
        var text: Bytes
        /// The difference between an offset in the whole document and one in the part.
        var offset: Int
        var isFirst: Bool
        /// Whether the list, or the whole document, ends with this part.
        var isLast: Bool
    }

    private let path: [[UInt8]]
    private let partSize: Int
    private let limit: Int

    private(set) var frame = ByteWriter(capacity: 4096)
    private var part = ByteWriter(capacity: 4096)
    /// The number of bytes before the next one.
    private(set) var offset = 0
    /// The offset of the part's first byte.
    private var partStart = 0
    private var isFirstPart = true

    private enum Place { case before, inside, behind }
    private var place = Place.before
    private var isInString = false, isEscaped = false
    /// The number of open objects and lists; inside the list, only those within an element.
    private var depth = 0
    /// The number of open objects and lists around the list.
    private var frameDepth = 0
    /// The number of path keys that lead to the object that is open at depth `matched` + 1.
    private var matched = 0
    private var isRootObject = false
    private var expectsKey = false, isOnPath = false
    private var keyStart = -1
    private var keyParser = ExactParser()
    /// The offset at which the frame omits the list's elements, and the number of omitted bytes.
    private var listStart = 0, listLength = 0
    private(set) var hasSecondList = false

    var hasList: Bool { place != .before }

    init(path: [String], partSize: Int, limit: Int) {
        self.path = path.map { Array($0.utf8) }
        self.partSize = partSize
        self.limit = limit
    }

    /// Converts an offset in the frame to one in the whole document.
    func offset(inFrame offset: Int) -> Int { offset < listStart || !hasList ? offset : offset + listLength }

    /// Processes the next piece, and passes on every complete part.
    mutating func append(_ piece: Bytes, _ body: (Part) throws -> Void) throws {
        var index = 0
        while index < piece.count {
            let start = index
            if case .inside = place {
                index = scanList(piece, from: index)
                part.append(piece.slice(start..<index))
                offset += index - start
                if part.count > limit { throw Excess(what: .element) }
                guard index < piece.count, !isInString, depth == 0 else { continue }
                // A byte at which the list may be cut, or ends.
                switch piece[index] {
                case UInt8(ascii: ","):
                    try emit(isLast: false, body)
                    index += 1
                    offset += 1
                    partStart = offset
                    part.removeAll()
                    part.append(UInt8(ascii: "["))
                case UInt8(ascii: "]"):
                    try emit(isLast: true, body)
                    listLength = offset - listStart
                    place = .behind
                    depth = frameDepth + 1
                default:
                    // A closing brace without an opening one: the parser of the part reports it.
                    part.append(piece[index])
                    try emit(isLast: true, body)
                    throw Excess(what: .element)
                }
            } else {
                index = scanFrame(piece, from: index)
                frame.append(piece.slice(start..<index))
                offset += index - start
                if frame.count > limit { throw Excess(what: .document) }
            }
        }
    }

    /// Ends the document. An unclosed list is passed on without its closing bracket.
    mutating func finish(_ body: (Part) throws -> Void) throws {
        guard case .inside = place else { return }
        try body(Part(text: part.bytes, offset: partStart - 1, isFirst: isFirstPart, isLast: true))
    }

    private mutating func emit(isLast: Bool, _ body: (Part) throws -> Void) throws {
        part.append(UInt8(ascii: "]"))
        try body(Part(text: part.bytes, offset: partStart - 1, isFirst: isFirstPart, isLast: isLast))
        isFirstPart = false
    }

    /// Scans to the end of the piece, or to a byte outside of all elements.
    ///
    /// Such a byte is a comma after enough bytes, or the list's closing bracket.
    private mutating func scanList(_ piece: Bytes, from start: Int) -> Int {
        var index = start
        let enough = start + max(0, partSize - part.count)
        while index < piece.count {
            let byte = piece[index]
            if isInString {
                _ = endsText(byte)
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return index }
                    depth -= 1
                case UInt8(ascii: ",") where depth == 0 && index >= enough: return index
                default: break
                }
            }
            index += 1
        }
        return index
    }

    /// Takes a byte inside of a text, and returns whether it ends the text.
    @inline(__always)
    private mutating func endsText(_ byte: UInt8) -> Bool {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            return true
        }
        return false
    }

    /// Scans to the end of the piece, or past the bracket that opens the list.
    private mutating func scanFrame(_ piece: Bytes, from start: Int) -> Int {
        var index = start
        while index < piece.count {
            let byte = piece[index]
            index += 1
            if isInString {
                if endsText(byte), keyStart >= 0 {
                    frameKeyEnded(piece, start, index)
                    keyStart = -1
                }
                continue
            }
            let isOnLevel = depth == matched + 1 && isRootObject
            switch byte {
            case UInt8(ascii: "\""):
                isInString = true
                if isOnLevel, expectsKey, matched < path.count {
                    keyStart = frame.count + index - 1 - start
                    expectsKey = false
                }
            case UInt8(ascii: ","):
                if isOnLevel { (expectsKey, isOnPath) = (true, false) }
            case UInt8(ascii: "{"):
                if depth == 0 { (isRootObject, expectsKey) = (true, true) }
                if isOnLevel, isOnPath, matched + 1 < path.count { (matched, expectsKey) = (matched + 1, true) }
                isOnPath = false
                depth += 1
            case UInt8(ascii: "["):
                let isList = depth == 0 ? path.isEmpty : isOnLevel && isOnPath && matched + 1 == path.count
                isOnPath = false
                if isList, place == .before {
                    begin(offset + index - start)
                    return index
                }
                hasSecondList = hasSecondList || isList
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if isOnLevel, matched > 0 { matched -= 1 }
                depth = max(0, depth - 1)
            default: break
            }
        }
        return index
    }

    private mutating func begin(_ offset: Int) {
        listStart = offset
        partStart = offset
        place = .inside
        frameDepth = depth
        depth = 0
        part.append(UInt8(ascii: "["))
    }

    private mutating func frameKeyEnded(_ piece: Bytes, _ start: Int, _ end: Int) {
        // The key may begin in an earlier piece.
        var key = ByteWriter(capacity: 64)
        if keyStart < frame.count { key.append(frame.bytes(keyStart..<frame.count)) }
        key.append(piece.slice(start + max(0, keyStart - frame.count)..<end))
        let wanted = path[matched]
        if key.bytes.contains(UInt8(ascii: "\\")) {
            do throws(JSONProblem) {
                try keyParser.parse(key.bytes, maximumDepth: 1)
            } catch {
                // The parser of the frame reports it.
                return
            }
            isOnPath = keyParser.tapeStrings.dropFirst(4).dropLast().elementsEqual(wanted)
        } else {
            isOnPath = key.bytes.dropFirst().dropLast().elementsEqual(wanted)
        }
    }
}
