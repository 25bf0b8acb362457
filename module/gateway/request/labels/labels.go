// Package labels finds the labels of requests: the tags and the customer by which their usage
// is counted and limited.
//
// The labels of a request become those of its key, for this request: limits and the ledger
// have one place to read them, whether the client or the configuration has set them. The
// package refuses a request with a tag that is not configured, so that no usage is counted
// without a tag that the client believes to be counted. Without configured labels, it reads
// nothing of a request.
package labels

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/affinity"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/request/marks"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Header is the header with the tags of a request: "team=search, env=prod". Providers do not
// get it.
const Header = "X-Gateway-Tags"

// Names configure the labels of requests.
type Names struct {
	// Tags are the names of the tags that requests and keys may have, at most 64. A request
	// lists its tags in the header X-Gateway-Tags: "team=search, env=prod". It has at most 8,
	// those of its key included. Default: none; the header is then ignored.
	Tags []string `json:"tags,omitempty"`

	// TagSources are where tags are read that requests do not list, by name: a header (header.X-Project), or
	// what coding agents state of themselves: {request.session}, {request.agent} or {request.subagent}, which
	// is "true" or nothing. A request without a text there has no such tag, and one whose text no tag can have
	// is refused. The tag of a key counts in place of it. Default: none.
	TagSources map[string]affinity.Source `json:"tag_sources,omitempty"`

	// Customer lists the headers (header.X-Customer) and fields (metadata.user_id) with the
	// customer that a request serves; the first one that a request has decides. Default:
	// none; requests then have no customer.
	Customer affinity.Sources `json:"customer,omitempty"`
}

// mostNames is the largest number of names of tags.
const mostNames = 64

var errNames = fmt.Errorf("at most %d names of tags are possible", mostNames)

// Inherit sets the fields that are empty to those of the global option.
func (n *Names) Inherit(outer Names) {
	if n.Tags == nil {
		n.Tags, n.TagSources = outer.Tags, outer.TagSources
	}
	if n.Customer == nil {
		n.Customer = outer.Customer
	}
}

// Check returns an error for a name that no tag can have, and for a source that no request
// can have.
func (n *Names) Check() error {
	if len(n.Tags) > mostNames {
		return errNames
	}
	for i, name := range n.Tags {
		if err := aigateway.CheckTagName(name); err != nil {
			return fmt.Errorf("tags: %w, not '%s'", err, name)
		}
		if slices.Contains(n.Tags[:i], name) {
			return fmt.Errorf("tags: '%s' occurs twice", name)
		}
	}
	for name, source := range n.TagSources {
		if !slices.Contains(n.Tags, name) {
			return fmt.Errorf("tag_sources: '%s' is not among the tags", name)
		}
		if stated[source] == nil && (!strings.HasPrefix(string(source), headerSource) || source.Check() != nil) {
			return fmt.Errorf("tags: '%s' is read from header.NAME, {request.session}, {request.agent} or {request.subagent}, not from '%s'", name, source)
		}
	}
	if err := n.Customer.Check(); err != nil {
		return fmt.Errorf("customer: %w", err)
	}
	return nil
}

// CheckKeys returns an error for a key with a tag that is not configured.
func (n *Names) CheckKeys(keys iter.Seq[*aigateway.Key]) error {
	for key := range keys {
		for _, tag := range key.Tags {
			if !slices.Contains(n.Tags, tag.Name) {
				return &aigateway.KeyError{ID: key.ID, Problem: "has the tag '" + tag.Name + "', which tags does not list"}
			}
		}
	}
	return nil
}

// CheckScope returns an error if limits cannot count by a scope, because no request has its
// label.
func (n *Names) CheckScope(scope aigateway.Scope) error {
	tag, tagged := scope.Tag()
	switch {
	case tagged && !slices.Contains(n.Tags, tag):
		return fmt.Errorf("counts by the tag '%s', which tags does not list", tag)
	case scope == aigateway.PerCustomer && len(n.Customer) == 0:
		return errors.New("counts by customer, but customer names no header or field")
	}
	return nil
}

// Apply sets the tags and the customer of a request on its key. It returns a fault if the request
// has a tag that is not configured or not valid, or no valid customer.
func (n *Names) Apply(ex *exchange.Exchange) *fault.Fault {
	labels := ex.Key.Labels
	if len(n.Tags) > 0 && len(ex.Request.Client[Header]) > 0 {
		var err error
		if labels.Tags, err = n.tags(ex.Request.Client[Header], labels.Tags); err != nil {
			return fault.BadLabel(strings.ToLower(Header), err.Error())
		}
	}
	if len(n.TagSources) > 0 {
		var refused *fault.Fault
		if labels.Tags, refused = n.read(ex, labels.Tags); refused != nil {
			return refused
		}
	}
	if len(n.Customer) > 0 {
		text, source := marks.Text(ex, n.Customer)
		if !isCustomer(text) {
			return fault.BadLabel(nameOf(source), "names a customer with 1 to 256 bytes of printable characters")
		}
		labels.Customer = text
	}
	if len(labels.Tags) == len(ex.Key.Tags) && labels.Customer == ex.Key.Customer {
		return nil
	}
	key := *ex.Key
	key.Labels = labels
	ex.Key = &key
	return nil
}

const headerSource = "header."

// nameOf returns the name of a source for clients.
func nameOf(source affinity.Source) string { return strings.TrimPrefix(string(source), headerSource) }

// stated are the sources that coding agents fill.
var stated = map[affinity.Source]func(*exchange.Exchange) string{
	"{request.session}": marks.Session,
	"{request.agent}":   marks.Agent,
	"{request.subagent}": func(ex *exchange.Exchange) string {
		if marks.IsOfSubagent(ex) {
			return "true"
		}
		return ""
	},
}

// read returns tags with those that are read from the request.
func (n *Names) read(ex *exchange.Exchange, tags []aigateway.Tag) ([]aigateway.Tag, *fault.Fault) {
	tags = slices.Clone(tags)
	for _, name := range n.Tags {
		source, isRead := n.TagSources[name]
		if !isRead || ex.Key.Tag(name) != "" {
			continue
		}
		tag := aigateway.Tag{Name: name}
		if value := stated[source]; value != nil {
			tag.Value = value(ex)
		} else {
			tag.Value, _ = marks.Text(ex, affinity.Sources{source})
		}
		if tag.Value == "" {
			continue
		}
		if err := tag.Check(); err != nil {
			return nil, fault.BadLabel(nameOf(source), err.Error())
		}
		tags = append(tags, tag)
	}
	sorted, err := aigateway.SortTags(tags)
	if err != nil {
		return nil, fault.BadLabel(strings.ToLower(Header), err.Error())
	}
	return sorted, nil
}

// tags returns the tags of a header and those of the key.
func (n *Names) tags(values []string, fixed []aigateway.Tag) ([]aigateway.Tag, error) {
	if len(values) > 1 {
		return nil, errors.New("must be sent once, with one value")
	}
	tags := slices.Clone(fixed)
	for text := range strings.SplitSeq(values[0], ",") {
		if len(tags) > len(fixed)+aigateway.MostTags {
			break // SortTags refuses them
		}
		tag, err := n.tag(strings.Trim(text, " \t"), fixed)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(fixed, tag) {
			tags = append(tags, tag)
		}
	}
	return aigateway.SortTags(tags)
}

// tag parses a tag of a header. A key decides about the tags that it has.
func (n *Names) tag(text string, fixed []aigateway.Tag) (aigateway.Tag, error) {
	tag, err := aigateway.ParseTag(text)
	switch {
	case err != nil:
		return tag, err
	case !slices.Contains(n.Tags, tag.Name):
		return tag, fmt.Errorf("the tag '%s' is not configured; known are: %s", tag.Name, strings.Join(n.Tags, ", "))
	}
	if source, isRead := n.TagSources[tag.Name]; isRead {
		return tag, fmt.Errorf("the tag '%s' is read from %s", tag.Name, nameOf(source))
	}
	for _, own := range fixed {
		if own.Name == tag.Name && own != tag {
			return tag, fmt.Errorf("the key has another value of the tag '%s'", tag.Name)
		}
	}
	return tag, nil
}

// maxCustomer is the largest length of the name of a customer, in bytes.
const maxCustomer = 256

// isCustomer reports whether a text is empty or the name of a customer.
func isCustomer(text string) bool {
	return len(text) <= maxCustomer && utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}
