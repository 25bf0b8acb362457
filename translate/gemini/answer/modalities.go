package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The members of an element of a list of the tokens of each modality.
var (
	details       = members.New("")
	detailOf      = details.Maybe(members.String, "modality")
	detailedCount = details.Maybe(members.Number, "tokenCount")
)

// countOfImages returns the number of tokens of images in a list of the tokens of each modality,
// which some models charge at a price of their own.
func countOfImages(c jsonscan.Cursor) (n int64, ok bool) {
	if !c.EnterArray() {
		return 0, false
	}
	var v members.Values
	for c.Element() {
		v.Read(&c, details, nil)
		if jsonscan.TextOf(v.Raw(detailOf)) == "IMAGE" {
			n += token.CountOf(v.Raw(detailedCount))
		}
	}
	return n, true
}
