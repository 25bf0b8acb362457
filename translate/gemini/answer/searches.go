package answer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The members of the grounding of a candidate that show searches, and of its sources.
var (
	groundings = members.New("")
	queryLists = [...]members.Member{
		groundings.Maybe(members.Array, "webSearchQueries"), groundings.Maybe(members.Array, "imageSearchQueries"),
	}
	chunks  = groundings.Maybe(members.Array, "groundingChunks")
	sources = members.New("")
	// The sources of searches, unlike those that a retrieval from own documents has.
	searchSources = [...]members.Member{
		sources.Maybe(members.Object, "web"), sources.Maybe(members.Object, "maps"), sources.Maybe(members.Object, "image"),
	}
)

// searches counts the searches that an answer shows. The service charges for each query that
// is not empty, once however often it is repeated, and for models before Gemini 3 once for a prompt
// that is grounded. (ai.google.dev/gemini-api/docs/google-search#pricing)
type searches struct {
	byPrompt bool
	grounded bool
	seen     map[query]bool // the events of a stream repeat the list so far, or go on with it
}

type query struct {
	list      members.Member
	candidate int64
	text      string
}

// name reads the raw version of the model that answers, nil if the event has none.
func (s *searches) name(model []byte) {
	if model != nil {
		name := jsonscan.DecodedOf(model)
		name = name[bytes.LastIndexByte(name, '/')+1:]
		s.byPrompt = bytes.HasPrefix(name, []byte("gemini-1")) || bytes.HasPrefix(name, []byte("gemini-2"))
	}
}

// read reads the grounding of a candidate.
func (s *searches) read(c jsonscan.Cursor, candidate int64) {
	var v members.Values
	if !v.Read(&c, groundings, nil) {
		return
	}
	for _, list := range queryLists {
		if v.Raw(list) == nil {
			continue
		}
		c := v.Cursor(list)
		for c.OpenArray(); c.Element(); {
			if text := bytes.TrimSpace(jsonscan.DecodedOf(c.StringOrSkip())); len(text) > 0 && len(s.seen) < token.MaxSearches {
				if s.seen == nil {
					s.seen = make(map[query]bool)
				}
				s.seen[query{list, candidate, string(text)}] = true
			}
		}
	}
	s.grounded = s.grounded || len(s.seen) > 0 || hasFound(&v)
}

// hasFound reports whether a grounding has a source that was searched.
func hasFound(v *members.Values) bool {
	if v.Raw(chunks) == nil {
		return false
	}
	var source members.Values
	c := v.Cursor(chunks)
	for c.OpenArray(); c.Element(); {
		source.Read(&c, sources, nil)
		for _, m := range searchSources {
			if source.Raw(m) != nil {
				return true
			}
		}
	}
	return false
}

// charged returns the number of searches that the service charges for.
func (s *searches) charged() int64 {
	switch {
	case !s.grounded:
		return 0
	case s.byPrompt:
		return 1
	}
	return max(1, int64(len(s.seen)))
}

// billedSearches are the searches in the list of the calls of tools that the service has billed.
var billedSearches = token.List{Word: "tool", Count: "successfulToolCallCount", Counts: isSearch}

// searchTools begin the names of the tools of the service whose calls are searches, in small
// letters without underscores.
var searchTools = []string{"googlesearch", "googlemaps", "enterprisewebsearch", "websearch", "imagesearch"}

func isSearch(tool string) bool {
	name := strings.ToLower(strings.ReplaceAll(tool, "_", ""))
	return slices.ContainsFunc(searchTools, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}
