// A process that works on a store for the tests: writes, reads and checks it, and can be killed.
//
//     StoreWorker write STORE STREAMS [full|relaxed]
//         writes the streams (0,1,2) until standard input ends; `ack STREAM NUMBER`
//     StoreWorker script STORE COUNT [full|relaxed]
//         writes COUNT transactions of stream 0 and prints the result of each
//     StoreWorker import STORE COUNT [full|relaxed]
//         imports COUNT units in the same way (`ImportWorkload`)
//     StoreWorker ahead STORE COUNT [full|relaxed]
//         imports up to COUNT units with a pipeline of several; `ack 0 NUMBER`
//     StoreWorker dump STORE
//         dumps all tables except `meta`, in the format of `mdb_dump`
//     StoreWorker read STORE
//         holds a snapshot until standard input ends, and reads it again
//     StoreWorker check [further]
//         checks the stores that standard input names, one a line (see `Check`)
//     StoreWorker count STORE FIRST LAST [killed]
//         sets counter 7 to FIRST…LAST, a commit each; with `killed`, the last commit sends no
//         notification, and the process then kills itself
//     StoreWorker churn STORE SEED
//         writes random items (`Evolving`) until standard input ends; `ack NUMBER`
//     StoreWorker evolve STORE ROUND ROWS
//         applies the schema of a round, in steps of ROWS rows; `step INDEX DONE`
//     StoreWorker serve STORE ROUND
//         opens the store with the schema of a round and executes commands (`serve`)
//     StoreWorker outbox STORE
//         queues, sends and discards local changes (`OutboxWorkload`) until it is killed;
//         `ack NUMBER`
//     StoreWorker outboxcheck STORE
//         compares the store with one that has run to the same step; `sound NUMBER`, or a
//         difference
//     StoreWorker bits STORE PART PARTS
//         flips every bit of the store's file, this process those of one part (`BitFlips`)
//     StoreWorker hold STORE
//         stops itself (SIGSTOP) inside of a write
//     StoreWorker shrink STORE
//         deletes all but COUNT records of each entity and compacts the store; `shrunk`
//     StoreWorker compact STORE
//         compacts the store; `compacted`
//     StoreWorker rewrite STORE
//         rewrites all rows, in steps of 20; `step ROWS`
//     StoreWorker backup STORE NEW [asItIs]
//         makes a copy; `copied`
//     StoreWorker repair STORE
//         repairs the store; `repaired`
//     StoreWorker verify STORE
//         verifies the store; `sound`, or the findings
//     StoreWorker busy STORE COUNT RECORDS
//         makes a store of RECORDS records if there is none, and commits COUNT times without a
//         pause (`BusyWriter`); `wrote COUNT`
//     StoreWorker mutate STORE SEED COUNT
//         inspects COUNT mutants of the store's file (`mutate`); `mutant NUMBER`
//     StoreWorker damage STORE KIND
//         damages a store, to prove that the check finds it

import Foundation
import Glibc
import TarnStore

/// Writes a line in one call, so that it is complete before the process can end.
func say(_ line: String) {
    var bytes = Array((line + "\n").utf8)
    while !bytes.isEmpty {
        let count = Glibc.write(1, bytes, bytes.count)
        guard count > 0 else { _exit(9) }
        bytes.removeFirst(count)
    }
}

func waitForEndOfInput() {
    var byte: UInt8 = 0
    while true {
        let count = Glibc.read(0, &byte, 1)
        if count == 0 || (count < 0 && errno != EINTR) { return }
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
let durability: Store.Options = .init(durability: arguments.count > 3 && arguments[3] == "relaxed" ? .relaxed : .full)
do {
    switch (arguments.first, arguments.count) {
    case ("write", 3...4):
        try write(arguments[1], arguments[2].split(separator: ",").compactMap { Int($0) }, durability)
    case ("script", 3...4): exit(run(.writes(), arguments[1], count: Int(arguments[2]) ?? 0, durability))
    case ("import", 3...4): exit(run(.imports(), arguments[1], count: Int(arguments[2]) ?? 0, durability))
    case ("ahead", 3...4):
        let store = try Store.open(at: arguments[1], schema: ImportWorkload.schema, options: durability)
        try await ImportWorkload.runAhead(store, to: Int(arguments[2]) ?? 0) { say("ack 0 \($0)") }
    case ("dump", 2): try dump(arguments[1])
    case ("read", 2): try holdSnapshot(arguments[1])
    case ("check", 1...2): exit(checkStores(further: arguments.count == 2))
    case ("count", 4...5):
        try count(arguments[1], Int64(arguments[2]) ?? 0, Int64(arguments[3]) ?? 0, isKilled: arguments.count == 5)
    case ("churn", 3): try churn(arguments[1], seed: UInt64(arguments[2]) ?? 0)
    case ("outbox", 2): try OutboxWorkload.run(arguments[1]) { say("ack \($0)") }
    case ("outboxcheck", 2): say(try OutboxWorkload.check(arguments[1]))
    case ("evolve", 4): try evolve(arguments[1], round: Int(arguments[2]) ?? 0, rows: Int(arguments[3]) ?? 1)
    case ("serve", 3): try serve(arguments[1], round: Int(arguments[2]) ?? 0)
    case ("bits", 4):
        let finds = try BitFlips(arguments[1]).run(part: Int(arguments[2]) ?? 0, of: max(1, Int(arguments[3]) ?? 1))
        exit(finds == 0 ? 0 : 1)
    case ("hold", 2): try Store.open(at: arguments[1]).write { _ in _ = kill(getpid(), SIGSTOP) }
    case ("shrink", 2):
        try SmallStore.shrink(arguments[1])
        say("shrunk")
    case ("compact", 2):
        try Store.compact(at: arguments[1])
        say("compacted")
    case ("rewrite", 2): try Store.open(at: arguments[1]).rewrite(nil, batch: 20, progress: { say("step \($0.rows)") })
    case ("backup", 3...4):
        try Store.open(at: arguments[1]).backup(to: arguments[2], isCompacted: arguments.count == 3)
        say("copied")
    case ("repair", 2):
        try Store.open(at: arguments[1]).repair()
        say("repaired")
    case ("verify", 2): exit(try verify(arguments[1]))
    case ("busy", 4):
        try BusyWriter.run(arguments[1], count: Int(arguments[2]) ?? 0, records: Int64(arguments[3]) ?? 1)
    case ("mutate", 4): try mutate(arguments[1], seed: UInt64(arguments[2]) ?? 0, count: Int(arguments[3]) ?? 0)
    case ("damage", 3): try damage(arguments[1], arguments[2])
    default:
        say("usage: see the first lines of main.swift")
        exit(2)
    }
} catch {
    say("error \(error)")
    exit(1)
}
