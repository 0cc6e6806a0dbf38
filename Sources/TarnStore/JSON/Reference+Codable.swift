// References in `Codable` structs: their keys.

extension Reference: Encodable where Target.Key: Encodable {
    /// Encodes the key.
    public func encode(to encoder: any Encoder) throws { try key.encode(to: encoder) }
}

extension Reference: Decodable where Target.Key: Decodable {
    /// Decodes the key.
    public init(from decoder: any Decoder) throws { self.init(try Target.Key(from: decoder)) }
}

extension References: Encodable where Target.Key: Encodable {
    /// Encodes the keys as a list.
    public func encode(to encoder: any Encoder) throws { try keys.encode(to: encoder) }
}

extension References: Decodable where Target.Key: Decodable {
    /// Decodes a list of keys.
    public init(from decoder: any Decoder) throws { self.init(try [Target.Key](from: decoder)) }
}
