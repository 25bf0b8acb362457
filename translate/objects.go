package translate

// ObjectNames is how clients get the names of objects that providers store.
type ObjectNames struct {
	// ID appends what takes the place of an id of a kind in an answer.
	ID func(dst []byte, kind string, id []byte) []byte
	// Base is what the addresses of objects begin with, the version included:
	// "https://ai.example.com/v1". SDKs read an address without a host as one below their own base
	// URL.
	Base string
}

// BatchEnd is how a request of a batch has ended.
type BatchEnd uint8

// The ends. A line of the results that states none of them counts as Errored.
const (
	Errored   BatchEnd = iota // the provider has refused the request, or failed
	Succeeded                 // it has an answer, which is charged
	Canceled                  // the batch was cancelled before
	Expired                   // the time of the batch was over before
)
