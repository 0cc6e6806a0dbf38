// Tarn in `import.wide`, `import.deep` and `import.small`.

import Foundation
import Tarn

enum TarnShapes {
    static func measure(
        _ shape: Shape, _ options: Options, _ compression: EntityDefinition.Compression
    ) async throws -> ShapeMeasurement {
        let bodies = try Shape.bodies(in: options.pages), bytes = bodies.map { [UInt8]($0) }
        let store = try Store.open(
            at: options.store.path, schema: schema(shape, compression), options: Store.Options(durability: .full))
        let mapping = Mapping(
            entities: shape == .deep
                ? Dictionary(uniqueKeysWithValues: shape.entities.dropLast().map { ($0, EntityMapping(declared: ["children"])) }) : [:])
        var importing = try TarnImporting(mapping, store, bodiesPerCommit: options.pagesPerCommit)
        let clock = ContinuousClock(), start = clock.now
        for (number, body) in bytes.enumerated() {
            try await importing.add(body, entity: shape.entity(ofBody: number), path: "harbours?page=\(number + 1)")
        }
        try await importing.finish()
        let seconds = (clock.now - start) / .seconds(1)
        _ = try importing.checkedReport()
        return ShapeMeasurement(
            seconds: seconds, bodies: bodies, commits: importing.commits, counts: try store.read { try counted(shape, $0) },
            compression: compression.rawValue, storeBytes: try sizeOfFiles(in: options.store))
    }

    private static func schema(_ shape: Shape, _ compression: EntityDefinition.Compression) -> Schema {
        let attributes = [AttributeDefinition("id", .int)] + shape.attributes.map { attribute in
            switch attribute.kind {
            case .text: AttributeDefinition(attribute.name, .string)
            case .optionalText: AttributeDefinition(attribute.name, .string, optional: true)
            case .int: AttributeDefinition(attribute.name, .int)
            case .double: AttributeDefinition(attribute.name, .double)
            case .bool: AttributeDefinition(attribute.name, .bool)
            case .date: AttributeDefinition(attribute.name, .date)
            }
        }
        let names = shape.entities
        return Schema(
            names.enumerated().map { number, name in
                var relationships: [RelationshipDefinition] = []
                if shape == .deep, number > 0 {
                    relationships.append(RelationshipDefinition("parent", to: names[number - 1], inverse: "children"))
                }
                if shape == .deep, number + 1 < names.count {
                    relationships.append(RelationshipDefinition("children", to: names[number + 1], many: true, inverse: "parent"))
                }
                return EntityDefinition(
                    name, key: ["id"], attributes: attributes, relationships: relationships, compression: compression)
            })
    }

    private static func counted(_ shape: Shape, _ reader: StoreReader) throws -> [String: Int] {
        var counts: [String: Int] = [:], checksum = ShapeChecksum(), parents = 0
        for entity in shape.entities {
            try reader.forEach(entity) { record in
                guard !record.isPartial else { throw BenchmarkError("\(entity) \(record.key) is stored in part only") }
                counts[entity, default: 0] += 1
                for field in record.fields {
                    switch field.value {
                    case .null: break
                    case .string(let text): checksum.add(text: text)
                    case .int(let number): checksum.add(number)
                    case .double(let number): checksum.add(number)
                    case .bool(let flag): checksum.add(flag)
                    case .date(let date): checksum.add(date.microseconds / 1_000_000)
                    case .reference(let key):
                        guard let number = Int64("\(key)") else { throw BenchmarkError("\(key) is no key of a parent") }
                        checksum.add(number)
                        parents += 1
                    default: throw BenchmarkError("\(entity).\(field.name) is \(field.value)")
                    }
                }
                return true
            }
        }
        if shape == .deep {
            for entity in shape.entities.dropLast() {
                try reader.forEach(entity) { record in
                    try reader.forEachRelated(entity, record.key, "children") { _ in
                        counts["children", default: 0] += 1
                        return true
                    }
                    return true
                }
            }
            guard counts["children"] == parents else { throw BenchmarkError("Tarn's parents and children differ") }
        }
        counts["checksum"] = Int(checksum.value)
        return counts
    }
}
