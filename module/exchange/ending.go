package exchange

// Ending is a cause with which the gateway ends the context of an exchange while the client
// is still there: a shutdown, or a deadline.
type Ending string

func (e Ending) Error() string { return string(e) }
