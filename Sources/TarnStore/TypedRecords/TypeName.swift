/// The names of Swift types in messages.
enum TypeName {
    /// Returns the type of a property as it is written: `[String]?`.
    static func written<Value>(_ type: Value.Type) -> String { written("\(type)") }

    private static func written(_ name: String) -> String {
        func argument(of generic: String) -> String? {
            guard name.hasPrefix(generic + "<"), name.hasSuffix(">") else { return nil }
            return written(String(name.dropFirst(generic.count + 1).dropLast()))
        }
        if let wrapped = argument(of: "Optional") { return wrapped + "?" }
        if let element = argument(of: "Array") { return "[\(element)]" }
        return argument(of: "StoredJSON") ?? name
    }

    /// Returns the way out of a value that is null, or of another type than a property.
    static func wayOut<Value: StoredValue>(_ field: Catalog.Field, isNull: Bool, _ type: Value.Type) -> String {
        if isNull { return "declare the property as \(written(type))?" }
        let mark = Value.ifAbsent == nil ? "" : "?"
        return switch field.kind {
        case .attribute(let type): "declare the property as \(property(type))\(mark)"
        case .reference(let reference):
            "declare the property as \(reference.isToMany ? "References" : "Reference<…>\(mark)")"
        }
    }

    /// Returns the way out of a reference whose key is not stored.
    static func longKey(_ entity: String) -> String {
        "the key is longer than \(StorageKey.longest) bytes, and only the record of \(entity) has all of it, which is not stored: store it, or leave the property out of the struct"
    }

    /// Returns the type of a property that reads every value of an attribute.
    private static func property(_ type: AttributeType) -> String {
        switch type {
        case .bool: "Bool"
        case .int: "Int64"
        case .uint: "UInt64"
        case .double: "Double"
        case .decimal: "ExactDecimal"
        case .string, .url, .json, .enumeration: "String"
        case .bytes: "Data"
        case .date: "Timestamp"
        case .uuid: "UUID"
        case .array(let element): "[\(property(element))]"
        }
    }
}

extension EncodedValue {
    /// The value for messages: its beginning as JSON, or its type.
    var shown: String {
        guard form != .references, form != .edges, form != .reference else { return typeName }
        var text = JSONText(), isComplete = true
        if form == .list {
            text.append(UInt8(ascii: "["))
            var isFirst = true
            forEachElement { element in
                guard text.count < EncodedValue.shownBytes else { return }
                if !isFirst { text.append(UInt8(ascii: ",")) }
                isFirst = false
                isComplete = isComplete && text.append(alone: element) == true
            }
            text.append(UInt8(ascii: "]"))
        } else {
            isComplete = text.append(alone: self) == true
        }
        guard isComplete else { return typeName }
        let shown = String(decoding: text.writer.bytes, as: UTF8.self)
        return shown.utf8.count <= EncodedValue.shownBytes ? shown : String(shown.prefix(EncodedValue.shownBytes)) + "…"
    }

    private static let shownBytes = 80
}
