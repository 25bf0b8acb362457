package aigateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Tag is a name with a value, by which the usage of requests is grouped, and by which limits
// count it.
type Tag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Labels are the tags and the customer of a request: those of its key, and those that the
// client names.
type Labels struct {
	Tags     []Tag  // ordered by name, each name once
	Customer string // whom the client serves with the request; empty for none
}

// Tag returns the value of the tag with a name, empty for none.
func (l *Labels) Tag(name string) string {
	for _, t := range l.Tags {
		if t.Name == name {
			return t.Value
		}
	}
	return ""
}

// MostTags is the largest number of tags of a request.
const MostTags = 8

// maxTagText is the largest length of the name and of the value of a tag, in bytes.
const maxTagText = 64

var (
	errManyTags = fmt.Errorf("a request has at most %d tags", MostTags)
	errTwoTags  = errors.New("a tag must occur once")
	errTag      = errors.New("a tag is a name and a value, such as team=search")
	errTagName  = errors.New("the name of a tag is 1 to 64 lower-case letters, digits, - or _, and begins with a letter")
	errTagValue = errors.New("the value of a tag is 1 to 64 letters, digits or _.@-")
)

// ParseTag parses a tag in the notation of FormatTags: "team=search".
func ParseTag(text string) (t Tag, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return t, errTag
	}
	t = Tag{Name: name, Value: value}
	return t, t.Check()
}

// Check returns an error if the name or the value is not that of a tag.
func (t Tag) Check() error {
	if err := CheckTagName(t.Name); err != nil {
		return err
	}
	if !consistsOf(t.Value, isTagValue) {
		return errTagValue
	}
	return nil
}

// CheckTagName returns an error unless name is a valid name of a tag.
func CheckTagName(name string) error {
	if !consistsOf(name, isTagName) || name[0] < 'a' || name[0] > 'z' {
		return errTagName
	}
	return nil
}

// consistsOf reports whether a text has a length from 1 to maxTagText, and only bytes that
// are allowed.
func consistsOf(text string, allowed func(byte) bool) bool {
	for i := range len(text) {
		if !allowed(text[i]) {
			return false
		}
	}
	return text != "" && len(text) <= maxTagText
}

func isTagName(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

func isTagValue(c byte) bool { return isTagName(c) || 'A' <= c && c <= 'Z' || c == '.' || c == '@' }

// FormatTags returns tags as one text: "env=prod team=search".
func FormatTags(tags []Tag) string {
	texts := make([]string, len(tags))
	for i, t := range tags {
		texts[i] = t.Name + "=" + t.Value
	}
	return strings.Join(texts, " ")
}

// SortTags orders tags by name. It returns an error if there are more than MostTags, or two
// with one name.
func SortTags(tags []Tag) ([]Tag, error) {
	slices.SortFunc(tags, func(a, b Tag) int { return strings.Compare(a.Name, b.Name) })
	for i := range tags {
		if i > 0 && tags[i].Name == tags[i-1].Name {
			return nil, fmt.Errorf("%w: '%s'", errTwoTags, tags[i].Name)
		}
	}
	if len(tags) > MostTags {
		return nil, errManyTags
	}
	return tags, nil
}
