// The commands that write and read; each reports its progress on standard output, line by line.

import Foundation
import Glibc
import LMDB
import Synchronization
import TarnStore

/// Writes each stream on its own thread until standard input ends.
///
/// Each stream continues at its progress in the store. Prints `open`, then `ack STREAM NUMBER` for
/// every transaction whose `write` has returned.
func write(_ path: String, _ streams: [Int], _ options: Store.Options) throws {
    let store = try Store.open(at: path, schema: Workload.schema, options: options)
    // The check replays the whole log; with the default retention, its beginning would be trimmed.
    try store.setChangeRetention(.all)
    say("open")
    let threads =
        streams.map { stream in
            Thread {
                do {
                    try write(store, Workload(stream: stream))
                } catch {
                    say("error \(error)")
                    _exit(1)
                }
            }
        } + [
            // Does nothing until there are enough rows, and nothing once there is a dictionary.
            Thread {
                while true {
                    _ = try? store.trainDictionaries()
                    usleep(50_000)
                }
            }
        ]
    for thread in threads {
        thread.stackSize = 8 << 20
        thread.start()
    }
    waitForEndOfInput()
    // Exits inside or between transactions: a durable store needs no orderly shutdown.
    _exit(0)
}

private struct Undone: Error {}

private func write(_ store: Store, _ workload: Workload) throws {
    var number = try store.read { try Workload.count(of: Int64(workload.stream), $0.access) }
    while true {
        number += 1
        let next = number
        if workload.failsFirst(next) {
            do {
                try store.write { writer in
                    try workload.run(next, &writer)
                    throw Undone()
                }
            } catch is Undone {
            }
        }
        try store.write { try workload.run(next, &$0) }
        say("ack \(workload.stream) \(next)")
    }
}

/// The workload of a script.
struct Script {
    var schema: Schema
    /// Returns the progress of a store.
    var done: (StoreReader) throws -> Int
    /// Writes the transaction with a number.
    var run: (Int, Store) throws -> Void

    /// Transactions of stream 0.
    static func writes() -> Script {
        Script(schema: Workload.schema, done: { try Workload.count(of: 0, $0.access) }) { number, store in
            try store.write { try Workload(stream: 0).run(number, &$0) }
        }
    }

    /// Units of an import.
    static func imports() -> Script {
        var workload: ImportWorkload?
        return Script(schema: ImportWorkload.schema, done: ImportWorkload.count) { number, store in
            let current = try workload.flatMap { $0.store === store ? $0 : nil } ?? ImportWorkload(store)
            // Released during the run: if it fails, the reference must not keep the store open.
            workload = nil
            try current.run(number)
            workload = current
        }
    }
}

/// Runs a number of transactions, with three attempts each.
///
/// Prints `ack 0 NUMBER`, or `failed KIND TEXT` for a failed attempt. After `poisoned`, the store
/// is closed and opened again.
///
/// - Returns: 0 if all were written, 3 after three failed attempts, 4 if a reader of this process
///   saw a state other than the acknowledged one.
func run(_ script: Script, _ path: String, count: Int, _ options: Store.Options) -> Int32 {
    var store: Store?
    var acknowledged = 0, failures = 0
    while acknowledged < count {
        guard failures < 3 else { return 3 }
        do {
            let open = try store ?? Store.open(at: path, schema: script.schema, options: options)
            if store == nil, acknowledged == 0 { acknowledged = try open.read { try script.done($0) } }
            store = open
            let number = acknowledged + 1
            if number > count { break }
            try script.run(number, open)
            acknowledged = number
            failures = 0
            say("ack 0 \(number)")
        } catch {
            failures += 1
            store = told(error, store)
        }
        do {
            let seen = try store?.read { try script.done($0) } ?? acknowledged
            if seen != acknowledged {
                say("wrong: a reader sees \(seen), and \(acknowledged) were acknowledged")
                return 4
            }
        } catch {
            store = told(error, store)
        }
    }
    return 0
}

/// Prints an error, and returns the store if it is still usable.
private func told(_ error: any Error, _ store: Store?) -> Store? {
    switch error {
    case StoreError.lmdb(let error), StoreOpenError.store(.lmdb(let error)):
        say("failed \(error.kind) \(error)")
        return error.kind == .poisoned ? nil : store
    case let error as any StoreFailure:
        say("failed store \(error)")
        return store
    default:
        say("failed untyped \(error)")
        return store
    }
}

/// Sets counter 7 to successive numbers, each in a commit of its own, and prints each number.
///
/// - Parameter isKilled: Whether the last commit sends no notification and the process then kills
///   itself.
func count(_ path: String, _ first: Int64, _ last: Int64, isKilled: Bool) throws {
    let store = try Store.open(at: path, schema: Workload.schema)
    for number in first...max(first, last) {
        if isKilled, number == last { store.wake.isSilent.store(true, ordering: .relaxed) }
        try store.write { writer in try writer.put("Counter", RecordKey(7), [.init("count", .int(number))]) }
        say("\(number)")
    }
    if isKilled { kill(getpid(), SIGKILL) }
}

/// Holds a snapshot until standard input ends, and reads it twice.
///
/// Prints `snapshot COUNT` at the beginning and `again COUNT` at the end.
func holdSnapshot(_ path: String) throws {
    let store = try Store.open(at: path)
    try store.read { reader in
        say("snapshot \(try Workload.count(of: Workload.shared, reader.access))")
        waitForEndOfInput()
        say("again \(try Workload.count(of: Workload.shared, reader.access))")
    }
}
