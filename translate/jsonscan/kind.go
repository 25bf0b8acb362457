package jsonscan

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values. Invalid means that there is no value.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindWords = [...]string{"invalid", "null", "boolean", "number", "string", "array", "object"}

// String returns the word that error messages use for the kind.
func (k Kind) String() string {
	if int(k) >= len(kindWords) {
		k = Invalid
	}
	return kindWords[k]
}

// kinds maps the first byte of a value to its kind.
var kinds = [256]Kind{
	'n': Null,
	't': Bool, 'f': Bool,
	'-': Number, '0': Number, '1': Number, '2': Number, '3': Number, '4': Number,
	'5': Number, '6': Number, '7': Number, '8': Number, '9': Number,
	'"': String,
	'[': Array,
	'{': Object,
}
