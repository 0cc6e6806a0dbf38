// Legal forms of declarations: access, conditions, wrappers, and names of the standard library.

import Foundation
import TarnMacros
import TestSupport
import Testing

public enum Warehouse {}

extension Warehouse {
    enum Size: String, AttributeValue { case small, large }
}

public extension Warehouse {
    /// Public without a modifier, as a member of this extension.
    @Record struct Crate: Equatable {
        @Key var id: Int
        public var label: String
    }
}

package extension Warehouse {
    @Record struct Pallet: Equatable {
        @Key var id: Int
        public var label: String
    }
}

private enum Mood: String, AttributeValue { case calm, wild }

/// Has properties of a type that only this file sees.
@Record struct Animal: Equatable {
    @Key var id: Int
    private var mood: Mood
    fileprivate var former: Mood?
    private(set) var legs: Int

    init(id: Int, isWild: Bool) {
        self.id = id
        mood = isWild ? .wild : .calm
        legs = 4
    }
}

/// Has an initializer that only some configurations have.
@Record struct Configured: Equatable {
    @Key var id: Int
    var name: String

    #if !NO_SUCH_CONDITION
        init(name: String) {
            id = 7
            self.name = name
        }
    #endif
}

@propertyWrapper struct Trimmed: Equatable, Sendable {
    private var text = ""

    var wrappedValue: String {
        get { text }
        set { text = newValue.trimmingCharacters(in: .whitespaces) }
    }
}

/// The memberwise initializer takes the wrapper, not the text.
@Record struct Wrapped: Equatable {
    @Key var id: Int
    @Trimmed var name: String
}

/// Types that hide those of the standard library.
enum Hiding {
    struct Int: Equatable, Sendable {}
    struct String: Equatable, Sendable {}
    struct Optional: Equatable, Sendable {}
    struct KeyPath: Equatable, Sendable {}
    struct PartialKeyPath: Equatable, Sendable {}

    @Record struct Shelf: Equatable {
        @Key var id: Int64
        @Relationship(inverse: "shelf", onDelete: .cascade) var books: Inverse<Book>
    }

    @Record struct Book: Equatable {
        @Key @Relationship(inverse: "books") var shelf: Reference<Shelf>
        @Key var number: Int64
        var title: Swift.String?
    }

    @Record struct Reader: Equatable {
        @Key var id: Int64
        @Relationship(inverse: "readers") var club: Reference<Club>?
    }

    @Record struct Club: Equatable {
        @Key var id: Int64
        var readers = Inverse<Reader>()
    }
}

enum Quoted {
    /// Has a name in backquotes, as a keyword needs them.
    @Record struct `Default`: Equatable {
        @Key var id: Int
        var `var`: Int
        var up: Reference<Self>?
    }

    @Record(nil, parent: nil, compression: nil, url: nil) struct Plain: Equatable {
        @Key var id: Int
        @Attribute(type: nil, rules: nil, renamedFrom: nil) var number: Int
        @Relationship(inverse: nil, rules: nil, by: nil) var up: Reference<`Default`>?
    }
}

@Suite("Forms of records")
struct RecordFormTests {
    @Test("a record has the access of the extension that it is declared in")
    func access() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(
            at: folder("s.tarn"), schema: Schema(records: [Warehouse.Crate.self, Warehouse.Pallet.self]))
        try store.write { writer in
            try writer.put(Warehouse.Crate(id: 1, label: "a"))
            try writer.put(Warehouse.Pallet(id: 1, label: "a"))
        }
        try store.read { reader throws -> Void in
            #expect(try reader.fetch(Warehouse.Crate.where { $0.label == "a" && $0.id == 1 }).count == 1)
            #expect(try reader.fetch(Warehouse.Pallet.where { $0.label == "a" && $0.id == 1 }).count == 1)
        }
    }

    @Test("a private property may be of a private type, and has conditions in its file")
    func privateTypes() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Animal.self]))
        let wild = Animal(id: 2, isWild: true)
        try store.write { writer in
            try writer.put(Animal(id: 1, isWild: false))
            try writer.put(wild)
        }
        #expect(
            try store.read { try $0.fetch(Animal.where { $0.mood == .wild && $0.former == nil && $0.legs == 4 }) }
                == [wild])
    }

    @Test("a record with an initializer inside of #if, or with a property wrapper, is read field by field")
    func fieldByField() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Configured.self, Wrapped.self]))
        try store.write { writer in
            try writer.put(Configured(name: "a"))
            try writer.put("Wrapped", RecordKey(1), [Record.Field("name", .string(" b "))])
        }
        #expect(try store.read { try $0.get(Configured.self, 7) } == Configured(name: "a"))
        #expect(try store.read { try $0.get(Wrapped.self, 1) }?.name == "b")
    }

    @Test("a program's own types may have the names of those of the standard library that expansions use")
    func hiding() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(
            at: folder("s.tarn"),
            schema: Schema(records: [Hiding.Shelf.self, Hiding.Book.self, Hiding.Reader.self, Hiding.Club.self]))
        let book = Hiding.Book(shelf: Reference(3), number: 1, title: "x")
        try store.write { try $0.put(book) }
        #expect(try store.read { try $0.get(Hiding.Book.self, Hiding.Book.Key(shelf: 3, number: 1)) } == book)
    }

    @Test("backquotes are no part of an entity's name, and an argument that is nil is the same as none")
    func names() throws {
        #expect(Quoted.`Default`.entity == "Default" && Quoted.Plain.entity == "Plain")
        let folder = try TemporaryFolder()
        let store = try Store.open(
            at: folder("s.tarn"), schema: Schema(records: [Quoted.`Default`.self, Quoted.Plain.self]))
        try store.write { try $0.put(Quoted.`Default`(id: 1, var: 2, up: nil)) }
        #expect(try store.read { try $0.fetch(Quoted.`Default`.where { $0.var == 2 }) }.map(\.id) == [1])
    }
}
