/// The type codes of the tuple encoding. The codes of integers are `zero` ± their length in bytes.
enum TupleCode {
    static let null: UInt8 = 0x00
    static let bytes: UInt8 = 0x01
    static let string: UInt8 = 0x02
    static let zero: UInt8 = 0x14
    static let double: UInt8 = 0x21
    static let `false`: UInt8 = 0x26
    static let `true`: UInt8 = 0x27
    static let uuid: UInt8 = 0x30
    static let decimal: UInt8 = 0x40
}
