// The reason and the offset at which bytes are not a JSON document.

/// The first violation of RFC 8259, or of a limit, in a text.
struct JSONProblem: Error, Equatable {
    var kind: Kind
    /// The first byte that cannot belong to a document; the number of bytes if the text ends early.
    ///
    /// For text that is not UTF-8: the first byte of the bad sequence. For an escape: its
    /// backslash. For a number with a leading zero: that zero.
    var offset: Int

    enum Kind: Equatable {
        case empty, cut, valueExpected, keyExpected, colonExpected, commaOrEndOfList, commaOrEndOfObject, followed
        case control, escape, hexadecimal, surrogate, notUTF8, leadingZero, digitExpected, literal
        case tooDeep(limit: Int)
    }

    var reason: String {
        switch kind {
        case .empty: "the document is empty."
        case .cut: "unexpected end of the document."
        case .valueExpected: "expected a value."
        case .keyExpected: "expected a key in double quotes."
        case .colonExpected: "expected a colon between a key and its value."
        case .commaOrEndOfList: "expected a comma or the end of the list."
        case .commaOrEndOfObject: "expected a comma or the end of the object."
        case .followed: "unexpected text after the end of the document."
        case .control: "a control character in text must be escaped."
        case .escape: "unknown escape."
        case .hexadecimal: "expected four hexadecimal digits after \\u."
        case .surrogate: "half of a surrogate pair."
        case .notUTF8: "not valid UTF-8."
        case .leadingZero: "a number must not have leading zeros."
        case .digitExpected: "expected a digit."
        case .literal: "expected a value; the only words are true, false and null."
        case .tooDeep(let limit): "objects and lists nested more than \(limit) levels deep."
        }
    }
}
