// A process that queues and sends changes until it is killed.
//
//     OutboxWorker DESCRIPTION STORE SEED COUNT    queues COUNT changes while it sends
//                                                  (COUNT 0 only sends)
//
// It prints `queued WHAT` after each change is committed, and `done` at its end.

import Foundation
import Glibc
import Tarn
import TarnDescription

let arguments = CommandLine.arguments
guard arguments.count == 5, let seed = UInt64(arguments[3]), let count = Int(arguments[4]) else {
    FileHandle.standardError.write(Data("OutboxWorker DESCRIPTION STORE SEED COUNT\n".utf8))
    exit(2)
}

/// Writes a line without a buffer: it is not lost if the process is killed.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

let description = try Description.load(path: arguments[1])
let store = try Store.open(at: arguments[2], schema: description.schema)
let client = try APIClient(description, store: store, transport: CurlTransport())
var options = Outbox.Options()
options.backOff = RetryPolicy(attempts: .max, firstDelay: .milliseconds(1), longestDelay: .milliseconds(5))
options.failureLimit = 1000
let outbox = client.outbox(conflicts: .client, options: options)

/// SplitMix64.
struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

func keys(_ entity: String) throws -> [RecordKey] {
    try store.read { reader in
        var keys: [RecordKey] = []
        try reader.forEach(entity) { record in
            keys.append(record.key)
            return keys.count < 200
        }
        return keys
    }
}

let sender = Task {
    while !Task.isCancelled {
        _ = try await outbox.drain()
        try await Task.sleep(for: .milliseconds(1))
    }
}
var dice = Dice(state: seed)
for number in 0..<count {
    let text = "s\(seed)n\(number)", items = try keys("Item")
    switch Int.random(in: 0..<10, using: &dice) {
    case 0..<3:
        try await outbox.create("Item", [.init("title", .string(text)), .init("votes", .int(0))])
        say("queued item \(text)")
    case 3..<7 where !items.isEmpty:
        let key = items[Int.random(in: 0..<items.count, using: &dice)]
        try await outbox.update("Item", key, [.init("title", .string(text))])
        say("queued title \(text)")
    case 7..<9 where !items.isEmpty:
        let key = items[Int.random(in: 0..<items.count, using: &dice)]
        try await outbox.create("Comment", [.init("text", .string(text)), .init("item", .reference(key))])
        say("queued comment \(text)")
    default: try await Task.sleep(for: .milliseconds(1))
    }
}
while try store.read({ try $0.outbox.counts.total }) > 0 { try await Task.sleep(for: .milliseconds(2)) }
sender.cancel()
_ = await sender.result
say("done")
// Without exit handlers: those of libraries free memory that threads still use.
_exit(0)
