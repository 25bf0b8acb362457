package answer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// kindsOfObjects are the kinds of the ids of objects, by the member type.
var kindsOfObjects = map[string]string{
	"message_batch": seal.MessageBatchID, "message_batch_deleted": seal.MessageBatchID, "file": seal.ClaudeFileID, "file_deleted": seal.ClaudeFileID,
}

// EditIDs appends the edits that replace the id of a batch or of a file in a JSON answer, and the address
// of the results of a batch, which is at the provider: clients would send their keys there.
func EditIDs(edits []edit.Edit, data []byte, names translate.ObjectNames) []edit.Edit {
	var id, results translate.Span
	kind := ""
	c := jsonscan.New(data)
	for c.OpenObject(); c.Member(); {
		start := c.Offset()
		switch string(c.Name()) {
		case "id":
			id = translate.Span{Start: start, End: start + len(c.StringOrSkip())}
		case "type":
			kind = kindsOfObjects[jsonscan.TextOf(c.StringOrSkip())]
		case "results_url":
			results = translate.Span{Start: start, End: start + len(c.StringOrSkip())}
		default:
			c.Skip()
		}
	}
	raw := jsonscan.DecodedOf(data[id.Start:id.End])
	if kind == "" || len(raw) == 0 {
		return edits
	}
	sealed := names.ID(nil, kind, raw)
	edits = append(edits, edit.Edit{Span: id, With: jsonscan.AppendString(nil, sealed)})
	if kind == seal.MessageBatchID && !results.Empty() {
		address := names.Base + "/messages/batches/" + string(sealed) + "/results"
		edits = append(edits, edit.Edit{Span: results, With: jsonscan.AppendString(nil, []byte(address))})
	}
	slices.SortFunc(edits, func(a, b edit.Edit) int { return a.Start - b.Start })
	return edits
}

// Ended returns the end of a batch whose requests have all ended. None has failed as a whole: its
// results have the end of each request. One that has answers, but no address of results yet, has not
// ended.
func Ended(data []byte) (end translate.ObjectEnd) {
	kind, status, pending := "", "", false
	c := jsonscan.New(data)
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "type":
			kind = jsonscan.TextOf(c.StringOrSkip())
		case "processing_status":
			status = jsonscan.TextOf(c.StringOrSkip())
		case "results_url":
			pending = c.Kind() == jsonscan.Null
			c.Skip()
		case "request_counts":
			end.Answered, _ = jsonscan.Integer(jsonscan.MemberOf(c.Skip(), "succeeded"))
		default:
			c.Skip()
		}
	}
	if kind != "message_batch" || status != "ended" || pending && end.Answered > 0 {
		return translate.ObjectEnd{}
	}
	end.Ended = true
	return end
}

// batchEnds are the types of results of batches.
var batchEnds = map[string]translate.BatchEnd{
	"succeeded": translate.Succeeded, "errored": translate.Errored, "canceled": translate.Canceled, "expired": translate.Expired,
}

// ReadResult reads a line of the results of a batch.
func ReadResult(line []byte) translate.BatchResult {
	r := translate.BatchResult{Format: translate.Messages}
	c := jsonscan.New(line)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "result" {
			c.Skip()
			continue
		}
		for c.OpenObject(); c.Member(); {
			switch string(c.Name()) {
			case "type":
				r.End = batchEnds[jsonscan.TextOf(c.StringOrSkip())]
			case "message":
				r.Answer = c.Skip()
			default:
				c.Skip()
			}
		}
	}
	if r.End != translate.Succeeded {
		r.Answer = nil
	}
	return r
}
