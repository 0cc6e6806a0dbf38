import TarnStore
import TestSupport

/// Makes a store of entities in a folder of its own, where commands find it as `s.tarn`.
func makeStore(_ entities: [EntityDefinition]) throws -> (folder: TemporaryFolder, store: Store) {
    let folder = try TemporaryFolder()
    let options = Store.Options(durability: .volatile)
    return (folder, try Store.open(at: folder("s.tarn"), schema: Schema(entities), options: options))
}
