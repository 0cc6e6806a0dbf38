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
        case .empty: "there is no document, only white space or nothing."
        case .cut: "the document ends before it is complete."
        case .valueExpected: "a value is expected here."
        case .keyExpected: "a key is expected here, as text in double quotes."
        case .colonExpected: "a colon is expected here, between a key and its value."
        case .commaOrEndOfList: "a comma or the end of the list is expected here."
        case .commaOrEndOfObject: "a comma or the end of the object is expected here."
        case .followed: "something follows the end of the document."
        case .control: "a control character in text has to be written as an escape."
        case .escape: "JSON has no such escape."
        case .hexadecimal: "four hexadecimal digits are expected behind \\u."
        case .surrogate: "half of a surrogate pair stands alone, which is no character."
        case .notUTF8: "the text is not UTF-8."
        case .leadingZero: "a number does not begin with a zero that digits follow."
        case .digitExpected: "a digit is expected here."
        case .literal: "a value is expected here; its words are true, false and null."
        case .tooDeep(let limit): "objects and lists are nested more than \(limit) levels deep."
        }
    }
}
