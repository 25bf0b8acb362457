package alerts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

// Recent is an alert of this process, whether or not a webhook is configured.
type Recent struct {
	Alert
	Ended time.Time // since when it needs nobody any more; zero while it does
}

// identity are the members of data that tell what an alert is about. The level of a budget is not
// among them: a higher one takes the place of a lower one.
var identity = [...]string{"provider", "model", "part", "limit", "per", "subject", "key", "path"}

// Latest returns the latest alerts, the newest first, at a time. An alert that occurs again while it
// is not over is one.
func Latest(now time.Time) []Recent {
	open, ended := make(map[string]Recent), []Recent{}
	for _, e := range events.Past() {
		k, ok := kinds[e.Name]
		if !ok {
			continue
		}
		if k.ends != "" {
			subject := subjectOf(k.ends, e.Data)
			if begun, is := open[subject]; is {
				begun.Ended = e.Time
				ended = append(ended, begun)
				delete(open, subject)
			}
			continue
		}
		subject := subjectOf(e.Name, e.Data)
		next := Recent{Alert: *New("", e.Name, e.Time, e.Data)}
		if earlier, is := open[subject]; is && !endsByEvent(e.Name) && !earlier.until().After(next.Time) {
			ended = append(ended, earlier)
		}
		open[subject] = next
	}
	all := slices.AppendSeq(ended, maps.Values(open))
	for i := range all {
		if end := all[i].until(); all[i].Ended.IsZero() && !endsByEvent(all[i].Event) && !end.After(now) {
			all[i].Ended = end
		}
	}
	slices.SortStableFunc(all, func(a, b Recent) int { return b.Time.Compare(a.Time) })
	return all
}

// endsByEvent reports whether alerts end with an event of another name, and not by themselves.
func endsByEvent(name string) bool {
	for _, k := range kinds {
		if k.ends == name {
			return true
		}
	}
	return false
}

// subjectOf returns what an event is about.
func subjectOf(name string, d data) string {
	var subject strings.Builder
	subject.WriteString(name)
	for _, member := range identity {
		fmt.Fprintf(&subject, " %q", d.value(member))
	}
	return subject.String()
}
