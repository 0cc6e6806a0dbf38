// Rows and their borrowed values cannot leave their transaction: programs that try do not compile.

import Foundation
import Testing

@Suite("Escapes that do not compile")
struct EscapeTests {
    private static let prologue = """
        import TarnStore
        struct Ticket: StoredRecord {
            static let entity = "Ticket"
            typealias Key = Int64
            enum Field: Int, RecordField { case id, title }
            var id: Int64
            init(_ row: Row<Ticket>) throws(StoreError) { id = try row.get(.id) }
            func encode(into row: inout RowEncoder<Ticket>) { row.set(.id, id) }
        }

        """

    /// Runs the compiler far enough for its lifetime checks, which `-typecheck` leaves out.
    private func compile(_ body: String) throws -> (status: Int32, errors: String) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tarn-escape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "escape.swift"), output = folder.appending(path: "output")
        try Data((Self.prologue + body + "\n").utf8).write(to: source)
        let build = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-I", build + "/Modules",
            "-Xcc", "-fmodule-map-file=\(package)/Sources/CLMDB/module.modulemap",
            "-Xcc", "-fmodule-map-file=\(package)/Sources/CByteSearch/include/module.modulemap",
            "-Xcc", "-fmodule-map-file=\(package)/Sources/CChecksum/include/module.modulemap",
            "-Xcc", "-fmodule-map-file=\(package)/Sources/CCrypto/module.modulemap",
            "-Xcc", "-fmodule-map-file=\(package)/Sources/CZstd/module.modulemap", source.path,
        ]
        // To a file: a full pipe would block a compiler with much output.
        try Data().write(to: output)
        let handle = try FileHandle(forWritingTo: output)
        process.standardError = handle
        process.standardOutput = handle
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOf: output, encoding: .utf8))
    }

    @Test("correct use compiles, so that the others fail for the right reason")
    func correctUseCompiles() throws {
        let result = try compile(
            """
            func use(_ store: Store) throws -> Int64 {
                try store.write { w in
                    let isThere = try w.reader().row(Ticket.self, 1) != nil
                    if isThere { _ = try w.patch(Ticket.self, 1) { $0.set(.title, "b") } }
                    let id = try w.reader().get(Ticket.self, 1)?.id
                    try w.delete(Ticket.self, id ?? 0)
                }
                var total: Int64 = 0, letters = 0
                try store.read { r in
                    try r.forEach(Ticket.self) { row in total += try row.get(.id) }
                    if let row = try r.row(Ticket.self, 1), let text = try row.text(.title) { letters += text.count }
                }
                return try store.read { r in
                    guard let row = try r.row(Ticket.self, 1) else { return total + Int64(letters) }
                    return try row.get(.id)
                }
            }
            func use(_ store: Store) async throws -> Bool {
                try await store.write { w in try w.patch(Ticket.self, 1) { $0.set(.title, "c") } }
            }
            """)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test(
        "a row, its text and the reader cannot be returned, stored outside or captured by a task",
        arguments: [
            "func f(_ s: Store) throws { let row = try s.read { r in return try r.row(Ticket.self, 1)! }; _ = row.version }",
            "func f(_ s: Store) throws { let t = try s.read { r in return try r.row(Ticket.self, 1)!.text(.title)! }; _ = t.count }",
            "func f(_ s: Store) throws { let r = try s.read { r in return r }; _ = r.catalog }",
            "func f(_ s: Store) throws { let r = try s.write { w in return try w.reader() }; _ = r.catalog }",
            """
            func f(_ s: Store, _ kept: inout Row<Ticket>) throws {
                try s.read { r in if let row = try r.row(Ticket.self, 1) { kept = row } }
            }
            """,
            """
            func f(_ s: Store, _ text: UTF8Span) throws {
                var kept = text
                try s.read { r in if let row = try r.row(Ticket.self, 1), let text = try row.text(.title) { kept = text } }
                print(kept.count)
            }
            """,
            """
            func f(_ s: Store) throws {
                var kept: [Row<Ticket>] = []
                try s.read { r in try r.forEach(Ticket.self) { row in kept.append(row) } }
            }
            """,
            """
            func f(_ s: Store, _ text: UTF8Span) throws {
                var kept = text
                try s.read { r in
                    try r.forEach(Ticket.self) { row in if let text = try row.text(.title) { kept = text } }
                    print(kept.count)
                }
            }
            """,
            """
            func f(_ s: Store) throws {
                try s.read { r in
                    let row = try r.row(Ticket.self, 1)!
                    Task { print(row.version) }
                }
            }
            """,
            """
            func f(_ s: Store) throws {
                try s.read { r in try r.forEach(Ticket.self) { row in Task { print(row.version) } } }
            }
            """,
        ])
    func lentRowsCannotLeave(_ body: String) throws {
        let result = try compile(body)
        #expect(result.status == 1, "\(result.errors)")
        #expect(
            result.errors.contains("lifetime-dependent") || result.errors.contains("Escapable")
                || result.errors.contains("escap"), "\(result.errors)")
    }

    @Test(
        "a row and a reader cannot be held across a change of the same transaction",
        arguments: [
            """
            try s.write { w in
                let row = try w.reader().row(Ticket.self, 1)!
                try w.delete(Ticket.self, 1)
                print(row.version)
            }
            """,
            """
            try s.write { w in
                let reader = try w.reader()
                try w.put("Ticket", [1], [])
                print(try reader.count("Ticket"))
            }
            """,
            """
            try s.write { w in
                let text = try w.reader().row(Ticket.self, 1)!.text(.title)!
                _ = try w.patch(Ticket.self, 1) { $0.set(.title, "b") }
                print(text.count)
            }
            """,
            """
            try s.write { w in
                try w.reader().forEach(Ticket.self) { row in try w.delete(Ticket.self, row.key) }
            }
            """,
        ])
    func rowsCannotBeHeldAcrossAChange(_ body: String) throws {
        let result = try compile("func f(_ s: Store) throws {\n\(body)\n}")
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.errors.contains("overlapping access"), "\(result.errors)")
    }
}
