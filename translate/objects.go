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

// ObjectEnd is what an answer states about the end of an object that a provider generates.
type ObjectEnd struct {
	Ended  bool // the provider generates no more
	Failed bool // it charges no more than the usage
	// Results is the id of the file with the results of a batch; "" if there is none, or if the results
	// have a path of their own.
	Results string
	// Answers are the results that the answer itself has, each as a line of results.
	Answers [][]byte
	// Answered is the number of requests of a batch that have an answer: its results have at least as many
	// lines.
	Answered int64
	// Unanswered are the requests of a batch that have no answer, if the results do not contain them.
	Unanswered Unanswered
}

// Unanswered are numbers of requests of a batch by how they ended.
type Unanswered struct{ Errored, Canceled, Expired int64 }

// BatchResult is the result of a request of a batch.
type BatchResult struct {
	End BatchEnd
	// Answer is the answer in Format to a request for Operation; nil if there is none.
	Answer    []byte
	Format    Format
	Operation Operation
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
