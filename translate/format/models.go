package format

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"

// Models is the shape of lists of models.
type Models struct {
	// Append appends one model.
	Append func(dst []byte, m modelcard.Card) []byte
	// AppendList appends a list, or a page of it that others follow.
	AppendList func(dst []byte, models []modelcard.Card, more bool) []byte
	// Paging is how clients ask for a page; nil for a format whose lists have none.
	Paging *Paging
}

// Paging is how clients ask for a page of a list of models.
type Paging struct {
	Limit, After, Before string // names of the parameters
	Standard, Largest    int    // sizes of a page
}
