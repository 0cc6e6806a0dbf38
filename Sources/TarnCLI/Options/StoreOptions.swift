// The store that a command reads: named by an option, or by a description file.

import ArgumentParser
import Foundation
import Tarn
import TarnInspect

struct StoreOptions: ParsableArguments {
    @OptionGroup var description: DescriptionOption

    @Option(help: ArgumentHelp("Store directory (default: from the description).", valueName: "path"))
    var store: String?

    @OptionGroup var immutable: ImmutableOption

    /// Opens the store with the catalog that is stored in it.
    func open() throws -> Store {
        try description.openStore(store, forWriting: false, way: " with --store", isImmutable: immutable.immutable)
    }
}

extension OutputFormat: ExpressibleByArgument {}
extension ReportFormat: ExpressibleByArgument {}

extension RecordKey {
    /// Parses a key argument: a number, text or a UUID; a JSON array for a composite key.
    init(argument: String, of entity: Catalog.Entity) throws {
        self = try RecordKey(argument: argument, entity, isWhole: true)
    }

    /// Parses a key argument, or the first components of one in a JSON array.
    init(argument: String, beginningOf entity: Catalog.Entity) throws {
        self = try RecordKey(argument: argument, entity, isWhole: false)
    }

    private init(argument: String, _ entity: Catalog.Entity, isWhole: Bool) throws {
        let types = entity.keyTypes
        func wrong() -> StoreError {
            let expected =
                types.count == 1
                ? "\(types[0])" : "a JSON array of [\(types.map(\.description).joined(separator: ", "))]"
            return .wrongKey(entity: entity.name, expected: expected, found: argument)
        }
        var texts = [argument]
        if types.count > 1 {
            guard let values = try? JSONDecoder().decode([TypedComponent].self, from: Data(argument.utf8)),
                isWhole ? values.count == types.count : (1...types.count).contains(values.count)
            else { throw wrong() }
            texts = values.map(\.text)
        }
        self.init(
            try zip(types, texts).map { type, text in
                guard let component = KeyComponent(argument: text, type) else { throw wrong() }
                return component
            })
    }
}

extension KeyComponent {
    /// Parses a component of a type; nil if the text is not of that type.
    fileprivate init?(argument text: String, _ type: AttributeType) {
        switch type {
        case .int:
            guard let value = Int64(text) else { return nil }
            self = .int(value)
        case .uuid:
            guard let value = UUID(uuidString: text) else { return nil }
            self = .uuid(value)
        default: self = .string(text)
        }
    }
}

extension KeySpan.Prefix {
    /// Parses the beginning of a key: of its text, or the first parts of a composite key as a JSON
    /// array.
    init(argument: String, of entity: Catalog.Entity) throws {
        let types = entity.keyTypes
        if types.count > 1, argument.first == "[",
            let values = try? JSONDecoder().decode([TypedComponent].self, from: Data(argument.utf8)),
            values.count <= types.count
        {
            let components = zip(types, values).compactMap { KeyComponent(argument: $1.text, $0) }
            if components.count == values.count {
                self = .components(components)
                return
            }
        } else if types.first == .string {
            self = .text(argument)
            return
        }
        let list = types.map(\.description).joined(separator: ", ")
        throw StoreError.wrongKey(
            entity: entity.name,
            expected: types.count > 1
                ? "the beginning of a JSON array of [\(list)]" : "a prefix, which keys of the type string have",
            found: argument)
    }
}

/// A component of a composite key in JSON: an integer or a string.
private struct TypedComponent: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            text = String(number)
        } else {
            text = try container.decode(String.self)
        }
    }
}

extension Catalog {
    func requireEntity(_ name: String) throws -> Entity {
        guard let entity = entity(name) else { throw StoreError.unknownEntity(name: name, known: entities.map(\.name)) }
        return entity
    }
}
