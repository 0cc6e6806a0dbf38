// Attribute types: what their descriptors say agrees with rows, indexes, the catalog and texts.

import Foundation
import Testing

@testable import TarnStore

@Suite("Attribute types")
struct AttributeTypeTests {
    struct Sample: Sendable {
        let type: AttributeType
        /// Values of the type, in ascending order.
        let values: [Value]
    }

    static let samples = [
        Sample(type: .bool, values: [.bool(false), .bool(true)]),
        Sample(type: .int, values: [.int(.min), .int(-1), .int(0), .int(300), .int(.max)]),
        Sample(type: .uint, values: [.uint(1 << 63), .uint(.max)]),
        Sample(type: .double, values: [.double(-.infinity), .double(-1.5), .double(0), .double(0.1), .double(1e300)]),
        Sample(
            type: .decimal,
            values: ["-20", "-1.5", "0.001", "12345678901234567890.5"].compactMap { ExactDecimal($0) }
                .map(Value.decimal)),
        Sample(type: .string, values: [.string(""), .string("a\0"), .string("a \"b\""), .string("é")]),
        Sample(type: .bytes, values: [.bytes([]), .bytes([0]), .bytes([0, 1]), .bytes([0xFF])]),
        Sample(
            type: .date,
            values: [
                .date(Timestamp(microseconds: .min)), .date(Timestamp(microseconds: -1)),
                .date(Timestamp(microseconds: 7)),
            ]),
        Sample(
            type: .uuid, values: [.uuid(UUID(bytes: [1])), .uuid(UUID(bytes: [2, 3])), .uuid(UUID(bytes: [0xFF]))]),
        Sample(type: .url, values: [.url("/a?b"), .url("https://example.org/")]),
        Sample(type: .json, values: [.json("[1,2]"), .json("{}")]),
    ]

    @Test("every type that a name denotes has samples, and is found by its name")
    func names() {
        #expect(Self.samples.map(\.type) == AttributeType.named)
        for sample in Self.samples {
            #expect(AttributeType(named: sample.type.name) == sample.type && !sample.values.isEmpty)
            #expect(sample.type.description == sample.type.name)
        }
        #expect(AttributeType(named: "enum") == nil && AttributeType(named: "array") == nil)
        #expect(AttributeType.array(.enumeration(["a"])).description == "[enum]")
    }

    @Test("a value is encoded and decoded again, has its type and no other, and converts to itself", arguments: samples)
    func rows(_ sample: Sample) {
        for value in sample.values {
            value.withEncoded { encoded in
                #expect(encoded.isWellFormed && encoded.decoded() == value)
                // An integer from 0 on is a value of both types.
                let others = AttributeType.named.filter { $0 != sample.type && $0 != .uint }
                #expect(encoded.fits(sample.type) && !others.contains { encoded.fits($0) })
                #expect(sample.type.tag == nil || sample.type.tag == encoded.tag)
                #expect(encoded.isText == sample.type.isText)
            }
            #expect(value.scalarType == sample.type)
            #expect(sample.type.converting(value) == value)
        }
        #expect(sample.type.converting(.null) == nil)
    }

    @Test("a decimal beyond the largest double is no double")
    func tooLarge() throws {
        #expect(AttributeType.double.converting(.decimal(try #require(ExactDecimal("1e400")))) == nil)
        #expect(AttributeType.double.converting(.decimal(try #require(ExactDecimal("1e300")))) == .double(1e300))
    }

    @Test("a value has an exact text in the catalog and in a condition", arguments: samples)
    func texts(_ sample: Sample) throws {
        for value in sample.values {
            #expect(sample.type.descriptor.value(catalogText: sample.type.descriptor.catalogText(value)) == value)
            let constant = Catalog.Constant(value)
            #expect(try JSONDecoder().decode(Catalog.Constant.self, from: JSONEncoder().encode(constant)) == constant)
            let condition = Condition.compare("field", .equal, value)
            #expect(try Condition(text: condition.text) == condition)
        }
    }

    @Test("the entries of an index sort as the values do, and have them", arguments: samples)
    func indexes(_ sample: Sample) {
        var entries: [[UInt8]] = []
        for value in sample.values {
            value.withEncoded { encoded in
                var writer = ByteWriter()
                IndexEntry.appendWholeValue(encoded, to: &writer)
                var reader = TupleReader(writer.bytes)
                let element = reader.next()
                #expect(element.flatMap { sample.type.descriptor.value($0) } == value)
                entries.append(Array(writer.bytes))
            }
        }
        let order = ValueOrder(sample.type, folded: false)
        for (index, next) in sample.values.indices.dropFirst().enumerated() {
            #expect(entries[index].lexicographicallyPrecedes(entries[next]))
            sample.values[index].withEncoded { less in
                sample.values[next].withEncoded { greater in
                    #expect(less.order(to: StoredOperand(greater, order), order).map { $0 < 0 } == true)
                    #expect(greater.order(to: StoredOperand(greater, order), order) == 0)
                }
            }
        }
    }
}
