// Mappings and rules with the properties that their initialisers do not take.

import TarnImport

extension EntityMapping {
    init(_ change: (inout EntityMapping) -> Void) {
        self.init()
        change(&self)
    }
}

extension FieldRules {
    init(_ change: (inout FieldRules) -> Void) {
        self.init()
        change(&self)
    }
}
