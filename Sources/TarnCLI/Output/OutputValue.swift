// A value of an output row, in the form of each format.

import Tarn

enum OutputValue {
    /// A value of a record.
    case value(Value)
    /// A text of the program.
    case text(String)
    /// A number of the program.
    case number(Int)
    /// JSON text, such as an included record.
    case json(String)
    /// No value: an empty cell, and no member of an object.
    case absent

    var isAbsent: Bool { if case .absent = self { true } else { false } }

    /// The value as JSON.
    func json(_ style: OutputStyle) -> String {
        var text = ""
        switch self {
        case .value(let value): value.appendJSON(style, to: &text)
        case .text(let x): text.appendJSONString(x)
        case .number(let x): text += "\(x)"
        case .json(let x): text += x
        case .absent: text += "null"
        }
        return text
    }

    /// The value as the text of a cell: lists of scalars without brackets if it is for people.
    ///
    /// For programs, a key that is no single value is JSON: without quotes, two keys can have one
    /// text.
    func cell(_ style: OutputStyle) -> String {
        switch self {
        case .value(let value): value.cell(style)
        case .text(let x), .json(let x): x
        case .number(let x): "\(x)"
        case .absent: ""
        }
    }

    /// The text, if the value is one; other values are numbers, names of JSON, or JSON text.
    func plainText(_ style: OutputStyle) -> String? {
        switch self {
        case .value(let value): value.text(style)
        case .text(let x): x
        case .number, .json, .absent: nil
        }
    }
}

extension Value {
    fileprivate func appendJSON(_ style: OutputStyle, to text: inout String) {
        switch self {
        case .date(let time) where style.isLocal: text.appendJSONString(time.text(isLocal: true))
        case .array(let values) where style.isLocal:
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.appendJSON(style, to: &text)
            }
            text += "]"
        default: text += jsonText
        }
    }

    fileprivate func cell(_ style: OutputStyle) -> String {
        switch self {
        case .date(let time): time.text(isLocal: style.isLocal)
        case .array(let values) where style.format.isForPeople:
            values.map { $0.cell(style) }.joined(separator: ", ")
        case .references(let keys) where style.format.isForPeople:
            keys.map(\.description).joined(separator: ", ")
        case .reference(let key) where !style.format.isForPeople && (key.isDigest || key.components.count > 1): jsonText
        default: plainText
        }
    }

    /// The content of a value that JSON has as a string; nil for others.
    fileprivate func text(_ style: OutputStyle) -> String? {
        switch self {
        case .string, .url, .uuid, .bytes: plainText
        case .date(let time): time.text(isLocal: style.isLocal)
        case .reference(let key):
            if case .string(let text)? = key.components.first, key.components.count == 1 { text } else { nil }
        default: nil
        }
    }
}
