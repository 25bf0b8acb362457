package token

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Terms are what an answer reports about its billing beside the counts: properties
// for which providers have another price. The zero Terms are the usual ones.
type Terms uint16

// The terms. Each is a bit.
const (
	Flex       Terms = 1 << iota // service tier: slower, for less
	Batch                        // service tier: within a day, for less
	Priority                     // service tier: sooner, for more
	Ultrafast                    // service tier: soonest, for more
	Fast                         // speed of messages answers
	RegionUS                     // region of messages answers: the United States alone
	OtherTier                    // service tier of another name
	OtherSpeed                   // speed of another name
	Reserved                     // service tier: capacity that is paid by time
	Regional                     // an endpoint of a region, or of several
)

// tiers are the terms of the service tiers.
const tiers = Flex | Batch | Priority | Ultrafast | Reserved | OtherTier

// Fields are the fields of requests that state terms.
var Fields = [...]struct {
	Name  string
	Terms Terms
}{
	{"service_tier", tiers},
	{"speed", Fast | OtherSpeed},
	{"inference_geo", RegionUS},
}

// Field returns the name of the first field that states one of the terms, "" for none.
func (t Terms) Field() string {
	for _, field := range Fields {
		if t&field.Terms != 0 {
			return field.Name
		}
	}
	return ""
}

// ReadTier reads a service tier, a raw string of JSON. A value that is no string
// leaves the tier that an earlier event has stated.
func (t *Terms) ReadTier(raw []byte) {
	if raw == nil {
		return
	}
	*t &^= tiers
	switch string(jsonscan.DecodedOf(raw)) {
	case "", "auto", "default", "standard", "standard_only", "on_demand", "unspecified": // the usual price
	case "ON_DEMAND", "TRAFFIC_TYPE_UNSPECIFIED":
	case "flex", "ON_DEMAND_FLEX":
		*t |= Flex
	case "batch":
		*t |= Batch
	case "priority", "fast", "ON_DEMAND_PRIORITY":
		*t |= Priority
	case "reserved", "PROVISIONED_THROUGHPUT":
		*t |= Reserved
	case "ultrafast":
		*t |= Ultrafast
	default:
		*t |= OtherTier
	}
}

// ReadSpeed reads a speed, a raw string of JSON. A value that is no string leaves the speed
// that an earlier event has stated.
func (t *Terms) ReadSpeed(raw []byte) {
	if raw == nil {
		return
	}
	*t &^= Fast | OtherSpeed
	switch string(jsonscan.DecodedOf(raw)) {
	case "", "auto", "default", "standard", "normal": // the usual price
	case "fast":
		*t |= Fast
	default:
		*t |= OtherSpeed
	}
}

// ReadRegion reads a region, a raw string of JSON. A value that is no string leaves the
// region that an earlier event has stated. Regions other than the United States have the
// usual price.
func (t *Terms) ReadRegion(raw []byte) {
	switch {
	case raw == nil:
	case string(jsonscan.DecodedOf(raw)) == "us":
		*t |= RegionUS
	default:
		*t &^= RegionUS
	}
}
