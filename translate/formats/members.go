package formats

import (
	"strings"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// IsMember reports whether a word is the name of a member of requests in one of the formats, in
// camel case or in snake case, or a value by which objects of requests differ.
func IsMember(word string) bool { return members()[word] }

// members are the words of IsMember: those in the tables of all readers and writers.
var members = sync.OnceValue(func() map[string]bool {
	all := make(map[string]bool)
	for _, d := range ofProviders {
		for _, word := range d.Requests.Words() {
			if translate.MemberLike(strings.ToLower(word)) {
				all[word], all[jsonscan.SnakeCase(word)] = true, true
			}
		}
	}
	return all
})
