/// The type codes of the tuple encoding. The codes of integers are `zero` ± their length in bytes.
package enum TupleCode {
    package static let null: UInt8 = 0x00
    package static let bytes: UInt8 = 0x01
    package static let string: UInt8 = 0x02
    package static let zero: UInt8 = 0x14
    package static let double: UInt8 = 0x21
    package static let `false`: UInt8 = 0x26
    package static let `true`: UInt8 = 0x27
    package static let uuid: UInt8 = 0x30
    package static let decimal: UInt8 = 0x40
}
