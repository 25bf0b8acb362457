package gateway

import (
	"math"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// maxStretch is the longest stretch of a conversation that costs by time. It is reserved before, and settled
// when the provider reports how long the conversation has lasted, about once a minute.
const maxStretch = 2 * time.Minute

// clock is how long a conversation that costs by time has lasted.
type clock struct {
	began    time.Time
	settled  int64 // seconds that are charged
	searches int64 // of the web, which no usage has yet
}

// search notes searches of the web: further ones, or all of a turn so far.
func (k *clock) search(n int64, further bool) {
	if further {
		n += k.searches
	}
	k.searches = max(k.searches, n)
}

// lasted returns the usage from the beginning up to now, by the clock of the gateway.
func (k *clock) lasted(now time.Time) token.Usage {
	seconds := int64(math.Ceil(now.Sub(k.began).Seconds()))
	return token.Usage{Known: true, Inconsistent: true, Units: token.Units{Seconds: seconds}}
}

// rest returns a usage without what is charged already.
func (k *clock) rest(u token.Usage) token.Usage {
	u.Units.Seconds = max(0, u.Units.Seconds-k.settled)
	return u
}

// report settles a stretch of the conversation at a report of the time since the beginning, and begins the
// next one unless the conversation has ended. It returns why the conversation ends if the limits of the key
// do not let it go on.
func (c *conversation) report(event *realtime.Event) *fault.Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.running[""]
	if t == nil || c.ended {
		return nil
	}
	longest := int64(c.partner.dialect.Lifetime / time.Second) // a provider may report any number
	event.Usage.Units.Seconds = min(event.Usage.Units.Seconds, longest)
	usage := c.clock.rest(event.Usage)
	ends := event.Kind == realtime.Ended
	if !ends && (usage.Units.Seconds == 0 || c.refusal != nil) {
		return nil
	}
	c.clock.settled += usage.Units.Seconds
	delete(c.running, "")
	t.finish(usage)
	t.settle(c)
	if ends {
		close(c.rested)
		return nil
	}
	if refused := c.run(""); refused != nil {
		return refused
	}
	return c.refusal
}

// lastByClock settles a stretch that has lasted longer than any by the clock of the gateway: the provider
// does not report the time.
func (c *conversation) lastByClock(now time.Time) {
	c.mu.Lock()
	t, usage := c.running[""], c.clock.lasted(now)
	c.mu.Unlock()
	if !c.partner.dialect.Timed || t == nil || now.Sub(t.ex.Start) < maxStretch {
		return
	}
	if refused := c.report(&realtime.Event{Kind: realtime.Elapsed, Usage: usage}); refused != nil {
		c.relay.End(c.endOf(refused))
	}
}
