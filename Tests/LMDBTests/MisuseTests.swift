// Borrowed bytes cannot leave their transaction: programs that try it do not compile.

import Foundation
import TestSupport
import Testing

@Suite("Misuse that does not compile")
struct MisuseTests {
    /// Runs the compiler far enough for its lifetime checks, which `-typecheck` leaves out.
    private func compile(_ body: String) throws -> (status: Int32, errors: String) {
        let folder = try TemporaryFolder()
        let source = folder("misuse.swift")
        let output = folder("output")
        try Data("import LMDB\n\(body)\n".utf8).write(to: URL(fileURLWithPath: source))
        let build = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-I", build + "/Modules", "-Xcc",
            "-fmodule-map-file=\(package)/Sources/CLMDB/module.modulemap", source,
        ]
        // To a file: a full pipe would block a compiler with much output.
        try Data().write(to: URL(fileURLWithPath: output))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardError = handle
        process.standardOutput = handle
        try process.run()
        process.waitUntilExit()
        return (process.terminationStatus, try String(contentsOfFile: output, encoding: .utf8))
    }

    @Test("correct use compiles: the other tests of this suite fail for the right reason")
    func correctUseCompiles() throws {
        let result = try compile(
            """
            func use(_ environment: Environment, _ table: Table, _ key: [UInt8]) throws -> Int {
                try environment.write { transaction in try transaction.put(table, key.span.bytes, key.span.bytes) }
                return try environment.read { transaction in
                    guard let value = try transaction.get(table, key.span.bytes) else { return 0 }
                    return value.byteCount
                }
            }
            """)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test(
        "what is lent cannot leave its transaction",
        arguments: [
            "func f(_ e: Environment, _ t: Table, _ k: [UInt8]) throws { let s = try e.read { r in try r.get(t, k.span.bytes)! }; print(s.byteCount) }",
            "func f(_ e: Environment) throws { let r = try e.read { r in r }; _ = r.id }",
            """
            func f(_ e: Environment, _ t: Table, _ k: [UInt8]) throws {
                var kept: RawSpan = k.span.bytes
                try e.read { r in if let value = try r.get(t, k.span.bytes) { kept = value } }
                print(kept.byteCount)
            }
            """,
            """
            func f(_ e: Environment, _ t: Table, _ k: [UInt8]) throws {
                try e.read { r in
                    let value = try r.get(t, k.span.bytes)!
                    Task { print(value.byteCount) }
                }
            }
            """,
            "func f(_ e: Environment, _ t: Table) throws { let c = try e.read { r in try r.cursor(t) }; _ = try c.first() }",
        ])
    func lentBytesCannotLeave(_ body: String) throws {
        let result = try compile(body)
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.errors.contains("error:"))
    }

    @Test("bytes cannot be held across a change of the same transaction")
    func bytesCannotBeHeldAcrossAChange() throws {
        let result = try compile(
            """
            func f(_ e: Environment, _ t: Table, _ k: [UInt8]) throws {
                try e.write { w in
                    let value = try w.get(t, k.span.bytes)!
                    try w.put(t, k.span.bytes, k.span.bytes)
                    print(value.byteCount)
                }
            }
            """)
        #expect(result.status == 1)
        #expect(result.errors.contains("overlapping access") || result.errors.contains("lifetime"), "\(result.errors)")
    }

    @Test("a transaction's closure cannot suspend")
    func closureCannotSuspend() throws {
        let result = try compile(
            """
            func f(_ e: Environment) async throws {
                try e.write { w in try await Task.sleep(for: .seconds(1)) }
            }
            """)
        #expect(result.status == 1)
        #expect(result.errors.contains("async"), "\(result.errors)")
    }
}
