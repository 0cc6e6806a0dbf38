// The Swift types that are values of fields, and their decoding from a value's bytes.

public import Foundation

/// A value that can be read from a row and written into one.
///
/// The library's own types are `Bool`, `Int`, `Int64`, `UInt64`, `Double`, `ExactDecimal`, `String`
/// (also for URLs, JSON and enumerations), `Timestamp`, `UUID`, `Data`, optionals and arrays of
/// them, and ``Reference`` and ``References``. An enumeration of strings only declares the
/// conformance: `enum State: String, StoredValue { case open, closed }`.
public protocol StoredValue {
    /// Decodes a value; nil if it is of another type, or null and `Self` is not optional.
    init?(_ value: ValueView)

    /// The value of a field that the row does not have; nil (the default) if the field is required.
    static var ifAbsent: Self? { get }

    /// Returns why this type refuses a value, and the way out, for the message of the error; nil
    /// (the default) if the value is of another type.
    static func wayOut(_ value: ValueView) -> String?

    /// Appends the value to the encoder.
    func encode(into value: inout ValueEncoder)
}

extension StoredValue {
    @inlinable public static var ifAbsent: Self? { nil }
    public static func wayOut(_ value: ValueView) -> String? { nil }
}

extension Optional: StoredValue where Wrapped: StoredValue {
    @inlinable
    public init?(_ value: ValueView) {
        if value.isNull {
            self = nil
            return
        }
        guard let wrapped = Wrapped(value) else { return nil }
        self = .some(wrapped)
    }

    @inlinable public static var ifAbsent: Wrapped?? { .some(nil) }
    public static func wayOut(_ value: ValueView) -> String? { Wrapped.wayOut(value) }

    public func encode(into value: inout ValueEncoder) {
        if let self { self.encode(into: &value) } else { value.null() }
    }
}

extension StoredValue where Self: RawRepresentable, RawValue: StoredValue {
    @inlinable
    public init?(_ value: ValueView) {
        guard let raw = RawValue(value) else { return nil }
        self.init(rawValue: raw)
    }

    public static func wayOut(_ value: ValueView) -> String? {
        guard RawValue(value) != nil else { return RawValue.wayOut(value) }
        return "\(Self.self) has no such value: add it, or declare the property as \(RawValue.self)"
    }

    public func encode(into value: inout ValueEncoder) { rawValue.encode(into: &value) }
}

extension Bool: StoredValue {
    @inlinable
    public init?(_ value: ValueView) {
        guard let bool = value.encoded.bool else { return nil }
        self = bool
    }

    public func encode(into value: inout ValueEncoder) { value.writer.appendValue(self) }
}

extension Int64: StoredValue {
    @inlinable @inline(__always)
    public init?(_ value: ValueView) {
        guard let int = value.encoded.int else { return nil }
        self = int
    }

    public func encode(into value: inout ValueEncoder) { value.writer.appendValue(self) }
}

extension Int: StoredValue {
    @inlinable @inline(__always)
    public init?(_ value: ValueView) {
        guard let int = value.encoded.int else { return nil }
        self.init(exactly: int)
    }

    public func encode(into value: inout ValueEncoder) { value.writer.appendValue(Int64(self)) }
}

extension UInt64: StoredValue {
    public init?(_ value: ValueView) {
        if value.encoded.tag == ValueTag.uint, let bits = value.encoded.eightBytes {
            self = bits
        } else if let int = value.encoded.int {
            self.init(exactly: int)
        } else {
            return nil
        }
    }

    public func encode(into value: inout ValueEncoder) { value.writer.appendValue(self) }
}

extension Double: StoredValue {
    public init?(_ value: ValueView) {
        guard value.encoded.tag == ValueTag.double, let bits = value.encoded.eightBytes else { return nil }
        self.init(bitPattern: bits)
    }

    public func encode(into value: inout ValueEncoder) { value.writer.appendValue(self) }
}

extension ExactDecimal: StoredValue {
    public init?(_ value: ValueView) {
        guard value.encoded.tag == ValueTag.decimal else { return nil }
        self.init(ascii: value.encoded.payload)
    }

    public func encode(into value: inout ValueEncoder) { value.writer.appendValue(self) }
}

extension Timestamp: StoredValue {
    @inlinable
    public init?(_ value: ValueView) {
        guard let date = value.encoded.date else { return nil }
        self = date
    }

    public func encode(into value: inout ValueEncoder) { value.writer.appendValue(self) }
}

extension UUID: StoredValue {
    public init?(_ value: ValueView) {
        guard value.encoded.tag == ValueTag.uuid, value.encoded.bytes.count == 17 else { return nil }
        self.init(uuid: value.encoded.payload.loadUnaligned(as: uuid_t.self))
    }

    public func encode(into value: inout ValueEncoder) {
        withUnsafeBytes(of: uuid) { value.writer.appendValue(tag: ValueTag.uuid, $0) }
    }
}

extension String: StoredValue {
    @inlinable
    public init?(_ value: ValueView) {
        guard let text = value.encoded.text else { return nil }
        self = text
    }

    /// Encodes the text in the field's type: text, a URL, or JSON, which is not validated.
    public func encode(into value: inout ValueEncoder) {
        let tag = value.textTag
        // Without a copy, whose references would be counted.
        let isWritten: Void? = utf8.withContiguousStorageIfAvailable { value.writer.appendValue(tag: tag, Bytes($0)) }
        guard isWritten == nil else { return }
        var text = self
        text.withUTF8 { value.writer.appendValue(tag: tag, Bytes($0)) }
    }
}

extension Data: StoredValue {
    public init?(_ value: ValueView) {
        guard value.encoded.tag == ValueTag.bytes else { return nil }
        self.init(value.encoded.payload)
    }

    public func encode(into value: inout ValueEncoder) {
        withUnsafeBytes { value.writer.appendValue(tag: ValueTag.bytes, $0) }
    }
}

extension Array: StoredValue where Element: StoredValue {
    public init?(_ value: ValueView) {
        var elements: [Element] = [], isSound = true
        let isComplete = value.encoded.forEachElement { element in
            guard isSound else { return }
            guard let element = Element(ValueView(element.bytes, value.context)) else {
                isSound = false
                return
            }
            elements.append(element)
        }
        guard isComplete, isSound else { return nil }
        self = elements
    }

    public static func wayOut(_ value: ValueView) -> String? {
        var reason: String?
        value.encoded.forEachElement { element in
            guard reason == nil else { return }
            let view = ValueView(element.bytes, value.context)
            guard Element(view) == nil else { return }
            reason =
                element.isNull
                ? "an element is null: declare the property as [\(TypeName.written(Element.self))?]"
                : Element.wayOut(view)
        }
        return reason
    }

    public func encode(into value: inout ValueEncoder) {
        value.writer.append(ValueTag.array)
        for element in self {
            let start = value.writer.count
            value.writer.appendLittleEndian(UInt32(0))
            element.encode(into: &value)
            value.writer.store(UInt32(value.writer.count - start - 4), at: start)
        }
    }
}

extension Reference: StoredValue {
    @inlinable
    public init?(_ value: ValueView) {
        guard let storageKey = value.reference else { return nil }
        // Inlined, the key's type is static: looking it up for each row takes longer than decoding
        // the key.
        if let key = Target.Key(encodedKey: storageKey) {
            self.init(key)
        } else {
            guard let key: Target.Key = value.longKey(storageKey, of: Target.entity) else { return nil }
            self.init(key)
        }
    }

    public static func wayOut(_ value: ValueView) -> String? {
        guard let reference = value.encoded.reference, StorageKey.isDigest(reference) else { return nil }
        return TypeName.longKey(Target.entity)
    }

    public func encode(into value: inout ValueEncoder) {
        key.withStorageKey { value.writer.appendValue(tag: ValueTag.reference, $0) }
    }
}

extension References: StoredValue {
    public init?(_ value: ValueView) {
        var keys: [Target.Key] = [], isSound = true
        let context = value.context
        guard value.encoded.tag == ValueTag.references || value.encoded.tag == ValueTag.edges else { return nil }
        let isComplete = try? context.access.forEachReference(value.encoded) { storageKey in
            guard let key: Target.Key = context.key(storageKey, of: Target.entity) else {
                isSound = false
                return false
            }
            keys.append(key)
            return true
        }
        guard isComplete == true, isSound else { return nil }
        self.init(keys)
    }

    public static func wayOut(_ value: ValueView) -> String? {
        guard value.encoded.tag == ValueTag.references || value.encoded.tag == ValueTag.edges else { return nil }
        var hasLongKey = false
        _ = try? value.context.access.forEachReference(value.encoded) { storageKey in
            hasLongKey = StorageKey.isDigest(storageKey)
            return !hasLongKey
        }
        return hasLongKey ? TypeName.longKey(Target.entity) : nil
    }

    public func encode(into value: inout ValueEncoder) {
        value.writer.append(ValueTag.references)
        for key in keys { key.withStorageKey { value.writer.appendReferenceElement($0) } }
    }
}

// Entry points of inlined code. They take only a value's bytes, which fit in registers, without the
// row's context.
extension EncodedValue {
    @usableFromInline var bool: Bool? {
        switch tag {
        case ValueTag.true: true
        case ValueTag.false: false
        default: nil
        }
    }

    @usableFromInline var date: Timestamp? {
        guard tag == ValueTag.date, let bits = eightBytes else { return nil }
        return Timestamp(microseconds: Int64(bitPattern: bits))
    }

    @usableFromInline var text: String? { isText ? String(decoding: payload, as: UTF8.self) : nil }

    var isText: Bool { form == .text }
}
