// Trained dictionaries: the common content of an entity's rows, so that a single row compresses
// well.

import CZstd
import Locking

/// A dictionary in zstd's digested forms.
/// Both forms are immutable, and any number of threads may use them at once (zstd.h).
package final class RowDictionary: @unchecked Sendable {
    /// Unique in the store and never reused. 0 stands for no dictionary.
    let id: UInt16
    let bytes: [UInt8]
    let forReading: OpaquePointer
    let forWriting: OpaquePointer
    /// The form for rewrites, once one has needed it.
    private let thorough = Guarded(Thorough())

    /// A form that is made when it is first needed. Nothing changes it afterwards.
    private struct Thorough: @unchecked Sendable {
        var digested: OpaquePointer?
    }

    /// Digests a dictionary. Nil if zstd cannot use the bytes.
    init?(id: UInt16, bytes: [UInt8]) {
        guard id > 0,
            let forReading = bytes.withUnsafeBytes({ ZSTD_createDDict($0.baseAddress, $0.count) })
        else { return nil }
        guard
            let forWriting = bytes.withUnsafeBytes({ ZSTD_createCDict($0.baseAddress, $0.count, RowCompression.level) })
        else {
            ZSTD_freeDDict(forReading)
            return nil
        }
        self.id = id
        self.bytes = bytes
        self.forReading = forReading
        self.forWriting = forWriting
    }

    /// The dictionary for `RowCompression.rewriteLevel`. Nil if there is no memory for it.
    var forRewriting: OpaquePointer? {
        let made = thorough.withLock { made in
            if made.digested == nil {
                made.digested = bytes.withUnsafeBytes {
                    ZSTD_createCDict($0.baseAddress, $0.count, RowCompression.rewriteLevel)
                }
            }
            return made
        }
        return made.digested
    }

    deinit {
        ZSTD_freeDDict(forReading)
        ZSTD_freeCDict(forWriting)
        ZSTD_freeCDict(thorough.withLock(\.self).digested)
    }

    /// The trade-off between time and quality: of a training, and of a compression.
    enum Effort {
        /// Fixed parameters that suit rows, for writers that wait.
        case quick
        /// The best of several parameter sets, or a high level of zstd, at several times the time.
        case thorough
    }

    /// Trains a dictionary from bodies of rows.
    /// Nil if they are too few or have too little in common.
    ///
    /// - Parameter capacity: The largest size in bytes. zstd advises a hundredth of the samples.
    static func train(_ samples: borrowing ByteWriter, sizes: [Int], capacity: Int, _ effort: Effort) -> [UInt8]? {
        guard !sizes.isEmpty else { return nil }
        var dictionary = [UInt8](repeating: 0, count: capacity)
        let all = samples.bytes
        let size = dictionary.withUnsafeMutableBytes { buffer in
            switch effort {
            case .thorough:
                return ZDICT_trainFromBuffer(
                    buffer.baseAddress, buffer.count, all.baseAddress, sizes, UInt32(sizes.count))
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
