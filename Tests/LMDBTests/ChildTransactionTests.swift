// Child transactions: one that fails is undone alone, and none outlives its parent.

import LMDB
import TestSupport
import Testing

@Suite("Child transactions")
struct ChildTransactionTests {
    struct Refusal: Error {}

    let folder: TemporaryFolder
    let environment: Environment
    let table: Table

    init() throws {
        folder = try TemporaryFolder()
        environment = try Environment.open(
            at: folder("e"), options: .init(durability: .volatile, mapSize: 2 << 20, minimumMapSize: 2 << 20))
        table = try environment.makeTable("t")
    }

    @Test("a child that fails is undone alone; what came before and after it is committed")
    func failingChildIsUndoneAlone() throws {
        try environment.write { parent in
            try parent.child { child in try child.set(table, bytes("a"), bytes("1")) }
            #expect(throws: Refusal.self) {
                try parent.child { child in
                    try child.set(table, bytes("a"), bytes("2"))
                    try child.set(table, bytes("b"), bytes("2"))
                    throw Refusal()
                }
            }
            try parent.child { child in
                #expect(try child.copy(table, bytes("a")) == bytes("1"))
                try child.set(table, bytes("c"), bytes("3"))
            }
        }
        #expect(try environment.value(table, "a") == "1")
        #expect(try environment.value(table, "b") == nil)
        #expect(try environment.value(table, "c") == "3")
    }

    @Test("a child that fills the map is undone alone")
    func childThatFillsTheMap() throws {
        try environment.write { parent in
            try parent.child { child in try child.set(table, bytes("a"), bytes("1")) }
            let failure = kindOfError {
                try parent.child { child in
                    for number in 0..<2000 {
                        try child.set(table, bytes("x\(number)"), Array(repeating: 1, count: 3000))
                    }
                }
            }
            #expect(failure == .mapFull)
            try parent.child { child in try child.set(table, bytes("b"), bytes("2")) }
        }
        #expect(try environment.entryCount(table) == 2)
        try environment.put(table, [("c", "3")])
    }

    @Test("a parent that fails takes its children with it")
    func failingParentTakesItsChildren() throws {
        #expect(throws: Refusal.self) {
            try environment.write { parent in
                try parent.child { child in try child.set(table, bytes("a"), bytes("1")) }
                throw Refusal()
            }
        }
        #expect(try environment.entryCount(table) == 0)
    }

    @Test("a child returns its closure's result, and its children are undone with it")
    func childrenOfChildren() throws {
        let count = try environment.write { parent in
            try parent.child { child in
                try child.set(table, bytes("a"), bytes("1"))
                #expect(throws: Refusal.self) {
                    try child.child { grandchild in
                        try grandchild.set(table, bytes("b"), bytes("2"))
                        throw Refusal()
                    }
                }
                return try child.statistics(table).entries
            }
        }
        #expect(count == 1)
        #expect(try environment.entryCount(table) == 1)
    }
}
