extension RecordKey {
    /// Appends the key as JSON: a number or a string, or an array for a composite key.
    /// If ``isDigest``, it becomes `{"digest": "…"}` with the storage key in hexadecimal.
    package func appendJSON(to text: inout String) {
        if components.count > 1 { text += "[" }
        for (index, component) in components.enumerated() {
            if index > 0 { text += "," }
            switch component {
            case .int(let x): text += String(x)
            case .string(let x): text.appendJSONString(x)
            case .uuid(let x): text.appendJSONString(x.uuidString.lowercased())
            case .digest(let x): text += "{\"digest\":\"\(x.hexadecimal)\"}"
            }
        }
        if components.count > 1 { text += "]" }
    }
}
