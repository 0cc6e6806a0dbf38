// Rows to begin with: a value of every kind, in every form.

import FuzzDriver
@testable import TarnStore

enum RowSeeds {
    private static let values: [[UInt8]] = {
        var values: [[UInt8]] = []
        func add(_ append: (inout ByteWriter) -> Void) {
            var writer = ByteWriter()
            append(&writer)
            values.append(Array(writer.bytes))
        }
        func text(_ tag: UInt8, _ text: String) -> [UInt8] { [tag] + Array(text.utf8) }
        add { $0.appendValueNull() }
        add { $0.appendValue(true) }
        for number in [0, -1, 300, 1 << 20, Int64.max] { add { $0.appendValue(number) } }
        add { $0.appendValue(UInt64.max) }
        let key = RecordKey([.string("acme"), .int(17)]).storageKey
        values += [
            [ValueTag.double] + Array(repeating: 0x40, count: 8), [ValueTag.date] + Array(repeating: 1, count: 8),
            text(ValueTag.decimal, "123.45e10"), text(ValueTag.string, "short"), text(ValueTag.url, "https://a.example/b"),
            text(ValueTag.json, #"{"a":[1,2]}"#), [ValueTag.bytes, 0, 1, 2], [ValueTag.uuid] + Array(0..<16),
            text(ValueTag.string, String(repeating: "What repeats itself compresses well. ", count: 4)),
            [ValueTag.array, 2, 0, 0, 0, ValueTag.int, 5, 1, 0, 0, 0, ValueTag.null],
            [ValueTag.reference] + key, [ValueTag.positionedReference, 1, 0, 0, 0] + key,
            [ValueTag.references, UInt8(key.count)] + key + [UInt8(key.count)] + key,
            [ValueTag.edges] + Array(repeating: 1, count: 28),
        ]
        return values
    }()

    private static func body(isWide: Bool) -> [UInt8] {
        var writer = ByteWriter()
        writer.appendLittleEndian(UInt16(values.count))
        var end = 0
        for (index, value) in values.enumerated() {
            end += value.count
            writer.appendLittleEndian(UInt16(index + 1))
            if isWide { writer.appendLittleEndian(UInt32(end)) } else { writer.appendLittleEndian(UInt16(end)) }
        }
        return Array(writer.bytes) + values.flatMap(\.self)
    }

    static var all: [[UInt8]] {
        var seeds = values.map { [2] + $0 }
        for isWide in [false, true] {
            let body = body(isWide: isWide), wide: UInt8 = isWide ? 4 : 0
            seeds += [[0] + header(isWide: isWide) + body, [1 | wide] + body]
            for isPacking in [false, true] {
                seeds.append([3 | wide | (isPacking ? 8 : 0), 40, 0, 1, 0] + body)
                var writer = ByteWriter()
                let form: UInt8? = body.withUnsafeBytes { bytes in
                    RowBody(bytes, isWide: isWide).flatMap {
                        context.compress($0, dictionary, isPacking: isPacking, into: &writer)
                    }
                }
                if let form { seeds.append([0] + header(isWide: isWide, form: form) + Array(writer.bytes)) }
            }
        }
        return seeds
    }
}
