package exchange

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Only a parameter with exactly the name "key" was found once, and none that url.ParseQuery
// refuses.
func TestKeysInQueriesAreFoundInEveryNotation(t *testing.T) {
	for _, query := range []string{"key=k", "Key=k", "KEY=", "key", "alt=sse&key=k", "key=k;a=b", "a=b;key=k", "key=%zzk", "%6bey=k", "%4bey=%zz", "api_key=k", "key%20=k", "+key+=k", "key%0a=k", "access_token=k", "Access%5FToken=k", "token=k", "client_secret=k", "password=k", "Authorization=k", "accessToken=k", "access-token=k", "refresh_token=k", "x-api-key=k", "auth=k", "id_jwt=k", "X-Amz-Signature=k"} {
		assert.True(t, HasQueryKey(query), query)
	}
	for _, query := range []string{"", "alt=sse", "pageToken=1", "page_token=1", "max_tokens=1", "token_count=1", "keys=1", "ey=1", "a=key", "alt=sse&pageSize=3;b", "%zz=1", "&;="} {
		assert.False(t, HasQueryKey(query), query)
	}
	assert.Zero(t, testing.AllocsPerRun(10, func() { HasQueryKey("alt=sse&beta=true") }))
}
