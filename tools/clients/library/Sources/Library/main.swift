import Foundation
import Tarn

let path = NSTemporaryDirectory() + "library-\(getpid()).tarn"
let schema = Schema([EntityDefinition("User", key: ["id"], attributes: [.init("id", .int), .init("login", .string)])])
let store = try Store.open(at: path, schema: schema)
try store.write { try $0.put("User", RecordKey(1), [.init("login", .string("ada"))]) }
print("library:", try store.read { try $0.count("User") }, "record")
try FileManager.default.removeItem(atPath: path)
