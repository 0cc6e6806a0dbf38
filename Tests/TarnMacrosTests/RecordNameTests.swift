// Records and properties with the names of types of the library, and of the code that `@Record` adds.

import TarnMacros
import TestSupport
import Testing

enum Board {
    @Record struct Column: Equatable {
        @Key var id: Int64
        var name: String
        var rows = Inverse<Row>()
    }

    @Record struct Row: Equatable {
        @Key var id: Int64
        var path: String
        var _path: Int?
        @Relationship(inverse: "rows") var column: Reference<Column>?
        @Attribute(type: .json) var parts: [String]?
    }

    @Record struct Record: Equatable {
        @Key var parts: String
        @Key var key: Int
        var row: Reference<Row>?
        var mapping_: String?
    }

    /// Refers to itself by `Self`, and has a keyword as a name.
    @Record struct Node: Equatable {
        @Key var id: Int64
        var `default`: Int
        var up: Reference<Self>?
    }

    /// The types of expansions that another type of the program could hide.
    @Record struct Value: Equatable {
        @Key var id: Int64
        struct StoreError {}
        struct RecordKey {}
        struct ColumnPath {}
        struct KeyParts {}
        struct Inverse {}
    }
}

enum Weight: String, AttributeValue { case light, heavy }

@Record public struct Parcel: Equatable {
    @Key public var id: Int
    public var label: String
    var weight: Weight?
}

@Suite("Names in records")
struct RecordNameTests {
    @Test("a record refers to itself by `Self`, and a keyword in backquotes is a property's name")
    func selfAndKeyword() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Board.Node.self]))
        let top = Board.Node(id: 1, default: 7), node = Board.Node(id: 2, default: 8, up: Reference(1))
        try store.write {
            try $0.put(top)
            try $0.put(node)
        }
        #expect(try store.read { try $0.fetch(Board.Node.where { $0.up.default == 7 }) } == [node])
    }

    @Test("a record may have the name of a type of the library, and a property that of a part of its columns and keys")
    func names() async throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(
            at: folder("s.tarn"),
            schema: Schema(records: [Board.Column.self, Board.Row.self, Board.Record.self, Board.Value.self]))
        try store.validate(Board.Column.self, Board.Row.self, Board.Record.self, Board.Value.self)
        let row = Board.Row(id: 1, path: "a", _path: 3, column: Reference(2), parts: ["x"])
        let record = Board.Record(parts: "p", key: 4, row: Reference(1), mapping_: nil)
        try await store.write { writer in
            try writer.put(Board.Column(id: 2, name: "todo"))
            try writer.put(row)
            try writer.put(record)
        }
        try store.read { reader throws -> Void in
            #expect(try reader.fetch(Board.Row.where { $0.path == "a" && $0.column.name == "todo" }) == [row])
            #expect(try reader.get(Board.Record.self, Board.Record.Key(parts: "p", key: 4)) == record)
            #expect(try reader.fetch(Board.Column.where { $0.rows.contains(1) }).map(\.id) == [2])
            #expect(Board.Record.Key(RecordKey(parts: "p")) == nil)
        }
    }

    @Test("a public record may have internal properties of internal types")
    func access() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Parcel.self]))
        try store.write { try $0.put(Parcel(id: 1, label: "x", weight: .heavy)) }
        #expect(try store.read { try $0.fetch(Parcel.where { $0.weight == .heavy && $0.label == "x" }) }.count == 1)
    }
}

@Suite("Unique references")
struct UniqueReferenceTests {
    enum Fleet {
        @Record struct Driver: Equatable {
            @Key var id: Int
            var car = Inverse<Car>()
        }

        @Record struct Car: Equatable {
            @Key var id: Int
            @Index(unique: true) @Relationship(inverse: "car") var driver: Reference<Driver>?
            @Index var owner: Reference<Driver>?
        }
    }

    @Test("a unique index of a relationship refuses a second record with the same target")
    func unique() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(
            at: folder("s.tarn"), schema: Schema(records: [Fleet.Driver.self, Fleet.Car.self]))
        try store.write { writer in
            try writer.put(Fleet.Car(id: 1, driver: Reference(7), owner: Reference(7)))
            try writer.put(Fleet.Car(id: 2, driver: nil, owner: Reference(7)))
            try writer.put(Fleet.Car(id: 3, driver: nil, owner: Reference(7)))
        }
        #expect(throws: StoreWriteError.self) {
            try store.write { try $0.put(Fleet.Car(id: 4, driver: Reference(7), owner: nil)) }
        }
        #expect(try store.read { try $0.fetch(Fleet.Car.where { $0.driver == 7 }) }.map(\.id) == [1])
    }
}
