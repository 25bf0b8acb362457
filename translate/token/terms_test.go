package token_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// A tier of an unknown name was taken for the standard one, at its price.
func TestTiersAndSpeedsOfUnknownNamesAreNotTheUsualOnes(t *testing.T) {
	for raw, want := range map[string]token.Terms{
		`""`: 0, `"auto"`: 0, `"default"`: 0, `"standard"`: 0, `"standard_only"`: 0, `"on_demand"`: 0,
		`"unspecified"`: 0, `"ON_DEMAND"`: 0, `"TRAFFIC_TYPE_UNSPECIFIED"`: 0, `"ON_DEMAND_FLEX"`: token.Flex, `"ON_DEMAND_PRIORITY"`: token.Priority,
		`"PROVISIONED_THROUGHPUT"`: token.Reserved, `"reserved"`: token.Reserved, `"ON_DEMAND_TURBO"`: token.OtherTier, `"on_demand_flex"`: token.OtherTier,
		`"flex"`: token.Flex, `"fl\u0065x"`: token.Flex, `"batch"`: token.Batch, `"priority"`: token.Priority, `"fast"`: token.Priority, `"ultrafast"`: token.Ultrafast,
		`"scale"`: token.OtherTier, `"Priority"`: token.OtherTier, `" flex"`: token.OtherTier,
	} {
		terms := token.Batch | token.OtherTier | token.Fast
		terms.ReadTier([]byte(raw))
		assert.Equal(t, want|token.Fast, terms, raw)
	}
	for raw, want := range map[string]token.Terms{
		`""`: 0, `"standard"`: 0, `"fast"`: token.Fast, `"Fast"`: token.OtherSpeed, `"turbo"`: token.OtherSpeed,
	} {
		terms := token.Batch | token.OtherSpeed | token.Fast
		terms.ReadSpeed([]byte(raw))
		assert.Equal(t, want|token.Batch, terms, raw)
	}
	for raw, want := range map[string]token.Terms{`"us"`: token.RegionUS, `"eu"`: 0, `"not_available"`: 0} {
		terms := token.Terms(0)
		terms.ReadRegion([]byte(raw))
		assert.Equal(t, want, terms, raw)
	}
	terms := token.Flex | token.Fast | token.RegionUS
	terms.ReadTier(nil)
	terms.ReadSpeed(nil)
	terms.ReadRegion(nil)
	assert.Equal(t, token.Flex|token.Fast|token.RegionUS, terms, "values that are no strings")
}

func TestTermsHaveAFieldOfRequests(t *testing.T) {
	for terms, want := range map[token.Terms]string{
		token.OtherTier | token.Fast: "service_tier", token.Fast: "speed", token.OtherSpeed | token.RegionUS: "speed", token.RegionUS: "inference_geo",
	} {
		assert.Equal(t, want, terms.Field())
	}
}
