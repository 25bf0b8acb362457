package objects

import (
	"net/url"
	"slices"
	"strings"
)

// Endpoint is an endpoint about objects.
type Endpoint struct {
	methods  []string
	segments []string // behind the version

	Lists   bool // the answer lists the objects of all clients of the account
	Bytes   bool // the answer is what a client has stored, and not about objects
	Lines   bool // the answer has a JSON document in each line, whose ids are those of objects
	Uploads bool // a form is a file, and refers to no object
	Charged bool // the vendor charges for what the request asks for
}

// endpoints are the endpoints about objects whose ids are found in all that is sent and answered. The
// segment {noun} is the id of such an object, and {} any other one, which names nothing without the
// object in front of it. Methods of an endpoint that are missing here refer to objects of others.
var endpoints = parse(`
	POST            files                                                        uploads
	GET             files                                                        lists
	GET,DELETE      files/{file}
	GET             files/{file}/content                                         bytes
	POST            uploads
	POST            uploads/{upload}/parts                                       uploads
	POST            uploads/{upload}/complete
	POST            uploads/{upload}/cancel
	POST            vector_stores
	GET             vector_stores                                                lists
	GET,POST,DELETE vector_stores/{vector-store}
	POST            vector_stores/{vector-store}/search                          charged
	GET,POST        vector_stores/{vector-store}/files
	GET,POST,DELETE vector_stores/{vector-store}/files/{file}
	GET             vector_stores/{vector-store}/files/{file}/content            bytes
	POST            vector_stores/{vector-store}/file_batches
	GET             vector_stores/{vector-store}/file_batches/{file-batch}
	POST            vector_stores/{vector-store}/file_batches/{file-batch}/cancel
	GET             vector_stores/{vector-store}/file_batches/{file-batch}/files
	POST            containers                                                   charged
	GET             containers                                                   lists
	GET,DELETE      containers/{container}
	GET,POST        containers/{container}/files
	GET,DELETE      containers/{container}/files/{container-file}
	GET             containers/{container}/files/{container-file}/content        bytes
	POST            fine_tuning/jobs                                             charged
	GET             fine_tuning/jobs                                             lists
	GET             fine_tuning/jobs/{fine-tuning-job}
	POST            fine_tuning/jobs/{fine-tuning-job}/cancel
	POST            fine_tuning/jobs/{fine-tuning-job}/pause
	POST            fine_tuning/jobs/{fine-tuning-job}/resume                    charged
	GET             fine_tuning/jobs/{fine-tuning-job}/events
	GET             fine_tuning/jobs/{fine-tuning-job}/checkpoints
	POST            videos                                                       charged
	GET             videos                                                       lists
	GET,DELETE      videos/{video}
	GET             videos/{video}/content                                       bytes
	POST            videos/{video}/remix                                         charged
	POST            videos/edits                                                 charged
	POST            videos/extensions                                            charged
	POST            skills                                                       uploads
	GET             skills                                                       lists
	GET,POST,DELETE skills/{skill}
	GET             skills/{skill}/content                                       bytes
	POST            skills/{skill}/versions                                      uploads
	GET             skills/{skill}/versions
	GET,DELETE      skills/{skill}/versions/{}
	GET             skills/{skill}/versions/{}/content                           bytes
	POST            batches                                                      charged
	GET             batches                                                      lists
	GET             batches/{batch}
	POST            batches/{batch}/cancel
	POST            messages/batches                                             charged
	GET             messages/batches                                             lists
	GET,DELETE      messages/batches/{message-batch}
	POST            messages/batches/{message-batch}/cancel
	GET             messages/batches/{message-batch}/results                     lines
	POST            conversations
	GET,POST,DELETE conversations/{conversation}
	GET,POST        conversations/{conversation}/items
	GET,DELETE      conversations/{conversation}/items/{}
	POST            responses                                                    charged
	POST            responses/input_tokens                                       charged
	POST            responses/compact                                            charged
	GET,DELETE      responses/{response}
	POST            responses/{response}/cancel
	GET             responses/{response}/input_items
	GET             chat/completions                                             lists
	GET,POST,DELETE chat/completions/{chat-completion}
	GET             chat/completions/{chat-completion}/messages
`)

func parse(table string) (all []Endpoint) {
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		has := func(word string) bool { return slices.Contains(words[2:], word) }
		all = append(all, Endpoint{
			methods: strings.Split(words[0], ","), segments: strings.Split(words[1], "/"),
			Lists: has("lists"), Bytes: has("bytes"), Lines: has("lines"), Uploads: has("uploads"), Charged: has("charged"),
		})
	}
	return all
}

// Find returns the endpoint of a request with a path with escapes, behind a version or none; nil for
// another one. HEAD counts as GET.
func Find(method, path string) *Endpoint {
	if method == "HEAD" {
		method = "GET"
	}
	segments := behindVersion(path)
	for i := range endpoints {
		if e := &endpoints[i]; slices.Contains(e.methods, method) && slices.EqualFunc(e.segments, segments, isLike) {
			return e
		}
	}
	return nil
}

// behindVersion returns the segments of a path behind the version.
func behindVersion(path string) []string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if isVersion(segments[0]) {
		return segments[1:]
	}
	return segments
}

func isVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && '0' <= segment[1] && segment[1] <= '9'
}

func isLike(pattern, segment string) bool {
	return pattern == segment || pattern[0] == '{' && segment != ""
}

// Replace returns the path of a request with other ids. replacement returns what takes the place of an id of one
// of some kinds. unknown is the first id for which it returns false, "" if there is none.
func (e *Endpoint) Replace(path string, replacement func(id string, kinds []string) (string, bool)) (replaced, unknown string) {
	all := strings.Split(path, "/")
	segments := all[len(all)-len(e.segments):]
	for i, pattern := range e.segments {
		kinds := kindsOf[strings.Trim(pattern, "{}")]
		if pattern[0] != '{' || kinds == nil {
			continue
		}
		id, err := url.PathUnescape(segments[i])
		other, ok := replacement(id, kinds)
		if err != nil || !ok {
			return "", id
		}
		segments[i] = url.PathEscape(other)
	}
	return strings.Join(all, "/"), ""
}
