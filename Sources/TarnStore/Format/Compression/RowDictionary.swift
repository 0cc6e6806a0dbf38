// A trained dictionary: what the rows of one entity have in common, so that a single row compresses well.

import CZstd
internal import LMDB

/// A dictionary in zstd's digested forms. Both are immutable and may be used by any number of threads at once (zstd.h).
package final class RowDictionary: @unchecked Sendable {
    /// Unique in the store, never reused; 0 is no dictionary.
    package let id: UInt16
    package let bytes: [UInt8]
    let forReading: OpaquePointer
    let forWriting: OpaquePointer

    /// Nil if zstd cannot use the bytes.
    package init?(id: UInt16, bytes: [UInt8]) {
        guard id > 0,
            let forReading = bytes.withUnsafeBytes({ ZSTD_createDDict($0.baseAddress, $0.count) })
        else { return nil }
        guard let forWriting = bytes.withUnsafeBytes({ ZSTD_createCDict($0.baseAddress, $0.count, RowCompression.level) })
        else {
            ZSTD_freeDDict(forReading)
            return nil
        }
        self.id = id
        self.bytes = bytes
        self.forReading = forReading
        self.forWriting = forWriting
    }

    deinit {
        ZSTD_freeDDict(forReading)
        ZSTD_freeCDict(forWriting)
    }

    /// How long a training takes, and how good its dictionary is.
    enum Effort {
        /// With parameters that suit rows: for writers that wait.
        case quick
        /// Several times as long, with the best parameters of a few.
        case thorough
    }

    /// Trains a dictionary from bodies of rows. Nil if there are too few of them, or if they have too little in common.
    ///
    /// - Parameter capacity: its largest size. zstd advises a hundredth of the samples.
    static func train(_ samples: borrowing ByteWriter, sizes: [Int], capacity: Int, _ effort: Effort) -> [UInt8]? {
        guard !sizes.isEmpty else { return nil }
        var dictionary = [UInt8](repeating: 0, count: capacity)
        let all = samples.bytes
        let size = dictionary.withUnsafeMutableBytes { buffer in
            switch effort {
            case .thorough:
                return ZDICT_trainFromBuffer(buffer.baseAddress, buffer.count, all.baseAddress, sizes, UInt32(sizes.count))
            case .quick:
                var parameters = ZDICT_fastCover_params_t()
                (parameters.k, parameters.d, parameters.f, parameters.accel) = (RowCompression.segment, 8, 18, 2)
                parameters.splitPoint = 1
                parameters.zParams.compressionLevel = RowCompression.level
                return ZDICT_trainFromBuffer_fastCover(
                    buffer.baseAddress, buffer.count, all.baseAddress, sizes, UInt32(sizes.count), parameters)
            }
        }
        guard ZDICT_isError(size) == 0, size > 0 else { return nil }
        dictionary.removeLast(dictionary.count - size)
        return dictionary
    }
}
