// A forked child refuses the inherited environment, and opens the file again.

import Foundation
import Glibc
import LMDB
import TestSupport
import Testing

/// Swift does not import `fork`.
func forkProcess() throws -> Int32 {
    let symbol = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"))
    return unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
}

@Suite("Forked processes", .timeLimit(.minutes(5)))
struct ForkTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a forked child that opens the file again gets an environment of its own, and both go on writing")
    func childOpensAgain() async throws {
        let path = folder("e")
        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Environment.open(at: path)
            let table = try environment.makeTable("t")
            try environment.put(table, [("a", "1")])
            let child = try forkProcess()
            if child == 0 {
                do {
                    let own = try Environment.open(at: path)
                    guard own !== environment, let table = try own.existingTables(["t"])[0],
                        try own.value(table, "a") == "1"
                    else { _exit(2) }
                    for number in 0..<50 { try own.put(table, [("child\(number)", "1")]) }
                    _exit(7)
                } catch {
                    _exit(3)
                }
            }
            for number in 0..<50 { try environment.put(table, [("parent\(number)", "1")]) }
            var status: Int32 = 0
            #expect(waitpid(child, &status, 0) == child)
            #expect(status >> 8 & 0xFF == 7)
            #expect(try environment.entryCount(table) == 101)
        }
    }
}
