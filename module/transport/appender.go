package transport

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"

// AppendKeepAlive implements exchange.Appender. It appends nothing if the client lacks
// bytes of the lane, because the keep-alive would come before them. It may be called
// concurrently with Read.
func (r *relay) AppendKeepAlive(dst []byte, sent int64) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent != r.written {
		return dst
	}
	return r.lane.continuation().AppendKeepAlive(dst)
}

// AppendFailure implements exchange.Appender.
func (r *relay) AppendFailure(dst []byte, f *fault.Fault) []byte {
	return r.lane.continuation().AppendFailure(dst, r.call.ids(), f)
}
