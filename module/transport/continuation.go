package transport

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"

// AppendKeepAlive appends a keep-alive, for a client that has received sent bytes. It
// appends nothing if the client lacks bytes of the lane: an event that follows them
// would come before them. It may be called at any time.
func (r *relay) AppendKeepAlive(dst []byte, sent int64) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent != r.written {
		return dst
	}
	return r.lane.continuation().AppendKeepAlive(dst)
}

// AppendFailure appends the event that ends the stream.
func (r *relay) AppendFailure(dst []byte, f *fault.Fault) []byte {
	return r.lane.continuation().AppendFailure(dst, f)
}
