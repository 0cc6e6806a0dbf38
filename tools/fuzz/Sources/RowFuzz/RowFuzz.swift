// Rows: whatever the bytes are, whole or compressed, each field is read inside of them, and the
// ways to read one agree.
//
// The first byte of an input says what the rest is: 0 a row, 1 a body behind a sound header, 2 a
// value, 3 a body that is compressed first (11 with a packed directory) and then damaged as the
// next four bytes say.

import FuzzDriver
import TarnInspect
@testable import TarnStore

@_cdecl("RowFuzz_main")
public func run(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    fuzz(count, arguments, seeds: { RowSeeds.all }) { input in
        guard let kind = input.first else { return }
        let rest = Array(input.dropFirst())
        switch kind & 3 {
        case 0: check(row: rest)
        case 1: check(row: header(isWide: kind & 4 != 0) + rest)
        case 2: check(value: rest)
        default: checkDamaged(rest, isWide: kind & 4 != 0, isPacking: kind & 8 != 0)
        }
    }
}

let dictionary: RowDictionary = made {
    guard let dictionary = RowDictionary(id: 1, bytes: Array(String(repeating: "What repeats itself compresses well. ", count: 20).utf8)) else {
        throw RowDecoder.Failure.noDictionary(1)
    }
    return dictionary
}
// libFuzzer calls from one thread.
nonisolated(unsafe) private let decoder: RowDecoder = {
    let decoder = RowDecoder()
    precondition(decoder.add(dictionary: 1, dictionary.bytes))
    return decoder
}()
nonisolated(unsafe) let context: RowContext = made {
    guard let context = RowContext() else { throw RowDecoder.Failure.malformed }
    return context
}

func header(isWide: Bool, form: UInt8 = RowFormat.uncompressed) -> [UInt8] {
    var row = [UInt8](repeating: 0, count: RowFormat.headerSize)
    row.withUnsafeMutableBytes {
        EncodedRow.writeHeader(
            to: $0, isPartial: false, isWide: isWide, entity: 1, version: 1, compression: (form, form == RowFormat.uncompressed ? 0 : 1))
    }
    return row
}

private func check(row: [UInt8]) {
    row.withUnsafeBytes { row in
        _ = EncodedRow.hasValidChecksum(row, table: 1, key: row.slice(0..<min(4, row.count)))
        decoder.lending {
            guard let whole = try? decoder.view(row) else { return }
            check(body: whole.body)
            _ = (whole.isPartial, whole.entity, whole.version, whole.checksum)
            checkLent(row, whole)
        }
    }
}

/// A row read without decompression has the same values as the whole one.
private func checkLent(_ row: Bytes, _ whole: EncodedRow) {
    guard EncodedRow.dictionary(of: row) == 1 else { return }
    let mark = context.mark
    defer { context.release(to: mark) }
    let isDivided = RowFormat.isDivided(form: row[2])
    let lent = context.lend(row: row, dictionary)
    guard isDivided, let divided = EncodedRow(row, body: row.slice(RowFormat.headerSize..<row.count), lent: lent) else { return }
    precondition(divided.body.count == whole.body.count, "a divided row has other fields")
    for index in 0..<whole.body.count {
        precondition(divided.body.id(at: index) == whole.body.id(at: index), "a field has another id")
        let one = divided.body.value(at: index), other = whole.body.value(at: index)
        precondition((one == nil) == (other == nil), "a field is there in one form only")
        if let one, let other { precondition(Bytes.equal(one.bytes, other.bytes), "a field differs") }
    }
    precondition(!divided.body.isDamaged, "a row can be read whole, and not divided")
}

private func check(body: RowBody) {
    let isWellFormed = body.isWellFormed
    for index in 0..<min(body.count, 300) {
        guard let value = body.value(at: index) else {
            precondition(!isWellFormed, "a field of a sound body is missing")
            continue
        }
        check(value)
        let found = body.value(of: body.id(at: index))
        if isWellFormed { precondition(found.map { Bytes.equal($0.bytes, value.bytes) } == true, "a field is not found by its id") }
    }
    _ = body.value(of: 0xFFFF)
}

private func check(value bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    bytes.withUnsafeBytes { check(EncodedValue($0)) }
}

private func check(_ value: EncodedValue) {
    let isWellFormed = value.isWellFormed, decoded = value.decoded(digestKey: { _ in RecordKey(0) })
    // References have their keys, which may be invalid: then the record is missing.
    let hasKeys = [ValueTag.reference, ValueTag.positionedReference, ValueTag.references, ValueTag.edges].contains(value.tag)
    if isWellFormed, !hasKeys { precondition(decoded != nil, "a sound value is not decoded") }
    if isWellFormed, case .decimal(let decimal)? = decoded { precondition(ExactDecimal(decimal.description) == decimal, "a decimal changes") }
    var references = 0
    value.forEachReference { references += $0.count }
    _ = (value.int, value.reference, value.position, EdgeList(value))
    precondition(value.isContained(in: value), "a value does not contain itself")
    var writer = ByteWriter()
    if isWellFormed {
        IndexEntry.appendValue(value, to: &writer)
        precondition(writer.count <= IndexEntry.longestValue + 1, "an indexed value is too long")
    }
}

/// A frame with sound beginnings: random bytes hardly ever are one.
private func checkDamaged(_ input: [UInt8], isWide: Bool, isPacking: Bool) {
    guard input.count > 4 else { return }
    let body = Array(input.dropFirst(4))
    var writer = ByteWriter()
    let form: UInt8? = body.withUnsafeBytes { bytes in
        RowBody(bytes, isWide: isWide).flatMap {
            context.compress($0, dictionary, isPacking: isPacking, into: &writer)
        }
    }
    guard let form else { return }
    let sound = header(isWide: isWide, form: form) + Array(writer.bytes)
    // Compressed bytes come back.
    sound.withUnsafeBytes { row in
        decoder.lending {
            guard let view = try? decoder.view(row) else { preconditionFailure("a sound row cannot be read") }
            precondition(Array(view.body.bytes) == body, "a body changes")
        }
    }
    var row = sound
    let place = RowFormat.headerSize + (Int(input[0]) | Int(input[1]) << 8) % max(1, row.count - RowFormat.headerSize)
    row[place] ^= input[2]
    if input[3] > 127 { row.removeLast(min(row.count - RowFormat.headerSize, Int(input[3]) - 127)) }
    check(row: row)
}
