// Wrong declarations of records, as the compiler reports them: the text, the place, the fix.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Diagnostics of @Record")
struct DiagnosticTests {
    /// A wrong declaration. `«…»` marks the code that the compiler names; `A` is the record.
    struct Wrong: CustomTestStringConvertible {
        var source: String
        var message: String
        /// The text of the fix that the compiler offers.
        var fix: String?
        /// The kind of the message: an error or a warning.
        var kind = "error"
        /// The number of errors of the compiler's own that cannot be prevented.
        var others = 0

        init(_ source: String, _ message: String, fix: String? = nil, kind: String = "error", others: Int = 0) {
            (self.source, self.message, self.fix, self.kind, self.others) = (source, message, fix, kind, others)
        }

        var testDescription: String { message }
    }

    static let wrong = [
        Wrong("«@Record» class A { @Key var id: Int = 1 }", "@Record applies to a struct, but this is a class"),
        Wrong("@Record struct A«<T>» { @Key var id: Int }", "a record cannot be generic: its entity has one schema"),
        Wrong(
            "@Record struct «A» { var name: String }",
            "a record needs a key: mark the property that identifies it with @Key"),
        Wrong(
            "@Record struct «A» { var id: Int }",
            "a record needs a key: mark the property that identifies it with @Key",
            fix: "mark 'id' with @Key"),
        Wrong(
            "@Record struct A { @Key var id: Int; var «count» = 0 }",
            "the field 'count' needs its type, which a macro cannot infer", fix: "count: Int = 0"),
        Wrong(
            "@Record struct A { @Key var id: Int; var «now» = Date() }",
            "the field 'now' needs its type, which a macro cannot infer"),
        Wrong(
            "@Record struct A { @Key var id: Int; «var a: Int, b: Int» }",
            "a record declares each field on a line of its own"),
        Wrong(
            "@Record struct A { @Key var id: «Int?» }", "the key 'id' cannot be optional", fix: "Int"),
        Wrong(
            "@Record struct A { @Key var id: «Double» }",
            "the key 'id' cannot be of type Double: a key is Int, Int64, String, UUID or a Reference"),
        Wrong(
            "@Record struct A { @Key @Attribute(default: «1») var id: Int }",
            "the key 'id' cannot have a default: two records would have the same key"),
        Wrong("@Record struct A { @Key var id: Int; «@Key» func f() {} }", "@Key applies to a property of a record"),
        Wrong("struct A { «@Key» var id: Int }", "@Key has no effect outside of a struct with @Record"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Relationship var author: «User» }",
            "the relationship 'author' is of type User: use Reference for one target, References for several",
            fix: "Reference<User>"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Relationship var author: «User?» }",
            "the relationship 'author' is of type User?: use Reference for one target, References for several",
            fix: "Reference<User>?"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Relationship var users: «[User]» }",
            "the relationship 'users' is of type [User]: use Reference for one target, References for several",
            fix: "References<User>"),
        Wrong(
            "@Record struct A { @Key var id: Int; @«Attribute»(from: \"user\") var author: Reference<User> }",
            "'author' is a relationship: use @Relationship", fix: "Relationship"),
        Wrong(
            "@Record struct A { @Key var id: Int; «@Index» var users: References<User> }",
            "'users' cannot be indexed: a list has no order"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Index(ignoringCase: «true») var number: Int }",
            "the index of 'number' cannot ignore case: Int is no text"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Relationship(ordered: «true») var author: Reference<User> }",
            "'author' has one target, so there is no order"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(default: «\"0\"») var count: Int }",
            "the default of 'count' is of type String, but its type is Int"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Relationship(inverse: «\"a\" + \"b\"») var author: Reference<User> }",
            #"the inverse is a key path such as \User.issues, or the name of a property as a literal"#),
        Wrong(
            #"@Record struct A { @Key var id: Int; @Relationship(inverse: «\User.isues») var author: Reference<User> }"#,
            "value of type 'User' has no member 'isues'"),
        Wrong(
            "@Record struct A { @Key var id: Int; «@Index» var users = Inverse<User>() }",
            "'users' is stored by the other side: only @Relationship(inverse:onDelete:) applies to it"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Relationship(from: «\"x\"») var users: Inverse<User> }",
            "'users' has no value in the JSON: the other side has it"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Transient var «cache»: Int }",
            "the transient property 'cache' needs an initial value"),
        Wrong(
            "@Record struct A { @Key var id: Int; «let» version: Int = 1 }",
            "'version' is a constant with a value, so it cannot be read: make it a var"),
        Wrong(
            "@Record struct A { @Key var id: Int; var «fields»: Int }",
            "'fields' is a member that @Record adds: choose another name"),
        Wrong(
            "@Record struct A { @Key var id: Int; «@Attribute» @Relationship var a: Reference<User> }",
            "'a' cannot have both @Attribute and @Relationship"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(from: «\"\"») var a: Int }",
            "the key path is empty: remove it, since the property's own name is tried anyway"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(from: \"b\", «\"b\"») var a: Int }",
            "the key path 'b' is there twice"),
        Wrong(
            "@Record struct A { @Key var id: Int; «@Relationship(inverse: \"isues\")» var a: Reference<User> }",
            "value of type 'User' has no member 'isues'"),
        Wrong(
            "@Record struct A { @Key var id: Int; «@Relationship(inverse: \"name\")» var a: Reference<User> }",
            "cannot convert return expression of type 'KeyPath<User, String>'"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(from: «1») var a: Int }",
            "cannot convert value of type 'Int' to expected argument type 'ValueSource'"),
        Wrong(
            "let A = User.where { $0.name «==» 1 }",
            "binary operator '==' cannot be applied to operands of type 'Column<String>' and 'Int'"),
        Wrong(
            #"@Record struct A { @Key var id: Int; «@Relationship(inverse: \User.name)» var u: Reference<User> }"#,
            "cannot convert return expression of type 'KeyPath<User, String>'"),
        Wrong(
            #"@Record struct A { @Key var id: Int; «@Relationship(inverse: \Team.members)» var u: Reference<Team> }"#,
            "cannot convert return expression of type 'KeyPath<Team, Inverse<User>>'"),
        Wrong(
            #"@Record struct A { @Key var id: Int; «@Relationship(inverse: \Team.members)» var u: Reference<User> }"#,
            "cannot convert return expression of type 'KeyPath<Team, Inverse<User>>'"),
        Wrong(
            #"@Record struct Owner { @Key var id: Int; var all: Inverse< A > }; @Record struct A { @Key var id: Int; @Relationship(inverse: «\Owner.all») var u: Reference<Owner>; var up: Reference< A >? }"#,
            "refers to itself, so the compiler cannot resolve a key path here: write inverse: \"all\"", fix: "\"all\""),
        Wrong(
            "@Record struct «Field» { @Key var id: Int }",
            "@Record adds a type Field to every record, which would hide this one: rename the struct, and name the entity with @Record(\"Field\")"
        ),
        Wrong(
            "@Record struct A { @Key var id: Int; «@Index» var state: Int { 5 } }",
            "@Index has no effect on 'state': only stored properties are fields"),
        Wrong(
            "@Record struct A { @Key var id: Int; «@Key» static let kind: Int = 1 }",
            "@Key has no effect on 'kind': only stored properties are fields"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(from: \"a\") «@Attribute(from: \"b\")» var q: Int }",
            "'q' has @Attribute twice: combine them"),
        Wrong(
            "@Record struct A { @Key var id: Int; «@Key» @Transient var q: Int = 0 }",
            "'q' cannot have both @Key and @Transient"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(type: «.int») var q: String }",
            "'q' is of type String, whose values cannot be stored as .int"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(type: «.array(.string)») var q: Int? }",
            "'q' is of type Int?, whose values cannot be stored as .array(.string)"),
        Wrong(
            "@Record struct A { @Key var id: Int\n#if true\nvar «q»: Int\n#endif\n}",
            "the field 'q' cannot be inside of #if: @Record does not see it. Move it out, or mark it with @Transient"),
        Wrong("let A = User.where { $0.«nam» == \"\" }", "value of type 'QueryFields<User>' has no"),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «Float» }",
            "'n' is of type Float, which is not one of a field: use Double"),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «[Int32]?» }",
            "'n' is of type [Int32]?, which is not one of a field: use Int"),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «[String: Int]» }",
            "'n' is of type [String: Int], which is not one of a field: keep a Codable type as JSON with @Attribute(type: .json)"
        ),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «[Reference<User>]» }",
            "'n' is of type [Reference<User>], which is not one of a field: use References<User>"),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «String!» }",
            "'n' is of type String!, which is not one of a field: declare an optional, with ?"),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «Int??» }",
            "'n' is of type Int??, which is not one of a field: declare one optional, since the store has one null"),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «Part»; struct Part: Codable { var a: Int } }",
            "'n' is of type Part, which is not one of a field: keep it as JSON with @Attribute(type: .json)",
            kind: "warning"),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «Mood»; enum Mood: String { case a } }",
            "'n' is of type Mood, which is not one of a field: declare enum Mood: String, AttributeValue",
            kind: "warning"),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: «Inverse<User>?» }",
            "'n' is stored by the other side, so it cannot be optional: remove the ?"),
        Wrong(
            "@Record struct A { «@Key var recordKey: Int»; @Key var id: Int }",
            "'recordKey' is a member of the type Key that @Record adds: choose another name for this part of the key"),
        Wrong(
            "@Record struct A { «@Key var hashValue: Int»; @Key var id: Int }",
            "'hashValue' is a member of the type Key that @Record adds: choose another name for this part of the key"),
        Wrong(
            "@Record struct A { @Key var id: Int\n#if true\n«@Index»\n#endif\nvar q: Int }",
            "@Index of 'q' cannot be inside of #if: @Record does not see it. Move it out"),
        Wrong(
            "enum Outer { @Record «private» struct A { @Key var id: Int } }",
            "at the top of the file, where the private type",
            fix: "fileprivate"),
        Wrong(
            "enum Outermost { private enum Inner { @Record struct «A» { @Key var id: Int } } }",
            "at the top of the file, where the private type Inner is hidden: make Inner fileprivate"),
        Wrong(
            "@Record struct A { @Key var id: Int; private var q: Kind?; «private» enum Kind: String, AttributeValue { case a } }",
            "'q' is of type Kind, which is private, but its column is visible in the whole file: make Kind fileprivate",
            fix: "fileprivate"),
        Wrong(
            "@Record struct A { @Key var id: Int; enum «Columns» { case a } }",
            "@Record adds a type Columns to every record: rename this one"),
        Wrong(
            "@Record struct A { @Key var id: Int; var q: «[Key]?» }",
            "the type of 'q' is the Key that @Record adds to A",
            kind: "warning"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(default: «1») var q: ExactDecimal }",
            "the default of 'q' is of type Int, but its type is ExactDecimal"),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(default: «.open») var n: Mood }",
            "the compiler cannot infer the type of the default of 'n': write Mood.open", fix: "Mood.open", others: 1),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(default: «[]») var n: [String] }",
            "the compiler cannot infer the type of the default of 'n': write [String]()", fix: "[String]()", others: 1),
        Wrong(
            "@Record struct A { @Key var id: Int; @Attribute(default: «nil») var n: Int? }",
            "the compiler cannot infer the type of the default of 'n': remove it, an optional is nil without one",
            others: 1),
        Wrong(
            "@Record struct A { @Key var id: Int; var n: Int = «3» }",
            "the initial value of 'n' is not a default of records that come without one: for that, write @Attribute(default: 3)",
            kind: "warning"),
        Wrong(
            "@Record struct A { @Key var id: Int; var «through»: String }",
            "in a condition, $0.through is a method: write $0[\"through\"] there, or choose another name",
            kind: "warning"),
    ]

    /// The compiler's output for all declarations, one on each line after the first lines.
    private static let output = Result { try compile() }
    private static let head = """
        import Foundation
        import TarnMacros
        @Record struct User { @Key var id: Int64; var name: String }
        @Record struct Team { @Key var id: Int64; var members = Inverse<User>() }
        enum Mood: String, AttributeValue, CaseIterable { case open }

        """

    private static func source(_ number: Int, _ wrong: Wrong) -> String {
        wrong.source.replacingOccurrences(of: " A ", with: " A\(number) ").replacingOccurrences(
            of: " A«", with: " A\(number)«"
        )
        .replacingOccurrences(of: "«A»", with: "«A\(number)»")
    }

    private static func compile() throws -> [String] {
        let folder = try TemporaryFolder(),
            build = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let file = folder("Wrong.swift"), output = folder("output")
        let lines = wrong.enumerated().map { source($0, $1).filter { $0 != "«" && $0 != "»" } }
        try Data((head + lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: file))
        try Data().write(to: URL(fileURLWithPath: output))
        let root = Checkout.root, process = Process(),
            handle = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        let maps = [
            root + "/Sources/CLMDB/module.modulemap", root + "/Sources/CZstd/module.modulemap",
            root + "/Sources/CCurl/module.modulemap", root + "/Sources/CCrypto/module.modulemap",
            root + "/Sources/CByteSearch/include/module.modulemap",
            root + "/Sources/CChecksum/include/module.modulemap", build + "/CSimdJSON.build/module.modulemap",
            root + "/.build/checkouts/Yams/Sources/CYaml/include/module.modulemap",
        ]
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-typecheck", "-swift-version", "6", "-diagnostic-style=llvm", "-I", build + "/Modules"]
            + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
            + ["-load-plugin-executable", build + "/TarnMacrosPlugin-tool#TarnMacrosPlugin", file]
        // To a file: a full pipe would block a compiler with much output.
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        process.waitUntilExit()
        return try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test(
        "a wrong declaration is an error at the code that is wrong, with the fix if there is one",
        arguments: wrong.indices)
    func diagnostics(_ number: Int) throws {
        let wrong = Self.wrong[number], output = try Self.output.get()
        let source = Self.source(number, wrong), first = try #require(source.firstIndex(of: "«"))
        let others = Self.wrong.indices.prefix(number).map { Self.source($0, Self.wrong[$0]) + "\n" }
        let before = (Self.head + others.joined() + source[..<first]).split(
            separator: "\n", omittingEmptySubsequences: false)
        let place = "Wrong.swift:\(before.count):"
        let column = (before.last?.utf8.count ?? 0) + 1
        // A problem in what a macro has added is reported there, with a note at the attribute.
        let errors = output.indices.filter {
            output[$0].contains(" \(wrong.kind): ") && output[$0].contains(wrong.message)
        }
        let found = errors.contains { error in
            let notes = output[error...].dropFirst().prefix { !$0.contains(" error: ") }
            let places = [output[error]] + notes.filter { $0.contains("note: in expansion of macro") }
            let isFixed = wrong.fix.map { fix in notes.contains { $0.contains(fix) } } ?? true
            return places.contains { $0.contains("\(place)\(column): ") } && isFixed
        }
        let own = output.filter { $0.contains(place) }
        #expect(found, "no such error at \(place)\(column); there are: \(own.joined(separator: "\n"))")
        #expect(own.count { $0.contains(" error: ") } <= 1 + wrong.others, "\(own)")
    }
}
