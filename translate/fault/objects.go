package fault

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// The functions of this file return the faults about objects that providers store, batches among them.

// NeedsOwner refuses a request that refers to an object stored by the provider by an id that does
// not show whose it is.
func NeedsOwner(path string) *Fault {
	return &Fault{
		Kind: Invalid, Message: path + ": this gateway cannot verify whose object this is: send its content instead",
		Param: path, Code: CodeUntranslatable, Log: Log{Trait: "responses_state"},
	}
}

// NoObject refuses an id of a stored object of a kind that the client does not have, in the words
// of the vendor. It does not show whether the object exists. path is the field of the id, "" for the
// path of the request.
func NoObject(path, kind, id string) *Fault {
	noun := seal.NounOf(kind)
	f := &Fault{Kind: NotFound, Message: strings.ToUpper(noun[:1]) + noun[1:] + " with id '" + id + "' not found.", Param: path, Log: Log{Message: "no such stored object"}}
	if path == "previous_response_id" {
		f.Kind, f.Message, f.Code = Invalid, "Previous response with id '"+id+"' not found.", "previous_response_not_found"
	}
	return f
}

// ObjectApart refuses a request that refers to an object of the client which another account stores than the
// one that the rest of the request needs. path is the field of the id.
func ObjectApart(path, kind string) *Fault {
	return InvalidField(path, "this "+seal.NounOf(kind)+" is in another account than the rest of the request needs: the objects of a request must be in one account")
}

// Webhook refuses a request that names an address which the provider would call. path is the member or the
// parameter with it.
func Webhook(path string) *Fault {
	return InvalidField(path, "must not be sent: the provider would call this address with names of objects that the gateway does not know")
}

// NotKept refuses a request about objects of a kind that no provider stores for clients.
func NotKept(kind string) *Fault {
	return &Fault{Kind: NotFound, Message: "path: this gateway keeps no " + seal.NounOf(kind) + "s", Code: "not_found"}
}

// NoList refuses to list stored objects.
func NoList() *Fault {
	return &Fault{Kind: NotFound, Message: "path: this gateway lists no stored chat completions, since the provider's list has those of all clients", Code: "not_found"}
}

// NoFileList refuses to list files.
func NoFileList() *Fault {
	return &Fault{Kind: NotFound, Message: "path: this gateway lists no files, since the provider's list has those of all clients", Code: "not_found"}
}

// AddressUnknown refuses an upload that clients would have to go on with at an address of the gateway.
func AddressUnknown() *Fault {
	return &Fault{Kind: Invalid, Message: "this gateway does not know its own address, at which the upload would go on: an administrator can set public_url"}
}

// NoBatchList refuses to list batches.
func NoBatchList() *Fault {
	return &Fault{Kind: NotFound, Message: "path: this gateway lists no batches, since the provider's list has those of all clients", Code: "not_found"}
}

// InBatch returns the fault of a request of a batch. path is that of the request in the body of the
// batch, such as "requests.6.params".
func (f *Fault) InBatch(path string) *Fault {
	batched := *f
	batched.Message = path + ": " + f.Message
	if field, ok := strings.CutPrefix(f.Message, f.Param+": "); ok && f.Param != "" {
		batched.Message = path + "." + f.Param + ": " + field
	}
	if f.Log.Message != "" {
		batched.Log.Message = path + ": " + f.Log.Message
	}
	if f.Param != "" {
		batched.Param = path + "." + f.Param
	}
	return &batched
}

// InLine returns the fault of a request of a batch in a line of a file. Lines count from 1.
func (f *Fault) InLine(number int) *Fault {
	batched, line := *f, "line "+strconv.Itoa(number)+": "
	batched.Message, batched.Param = line+f.Message, "file"
	if f.Log.Message != "" {
		batched.Log.Message = line + f.Log.Message
	}
	return &batched
}

// NoRequests refuses a file of a batch without a request.
func NoRequests(part string) *Fault {
	return InvalidField(part, "must have a request of a batch in each line")
}

// LateText refuses a text behind a file whose lines were read as requests of a batch, and changed.
func LateText(part string) *Fault {
	return InvalidField(part, "must be sent before the file, whose lines are requests of a batch otherwise")
}

// LongLine refuses a line of a file that has more than limit bytes.
func LongLine(limit int64) *Fault {
	return InvalidField("line", fmt.Sprintf("must have at most %d bytes", limit))
}

// BatchFileUnread refuses a batch of the requests in a file for a key whose models or costs are limited,
// if the gateway does not know what the requests may cost.
func BatchFileUnread() *Fault {
	return notAllowed("this key may not create a batch of this file, whose requests the gateway has not checked for it: store the file again with this key, all pieces of it through one gateway")
}

// BatchInBackground refuses a request of a batch that asks for an answer later.
func BatchInBackground() *Fault { return InvalidField("background", "must be false in a batch") }

// BatchStreams refuses a request of a batch that asks for a stream.
func BatchStreams() *Fault { return InvalidField("stream", "must be false in a batch") }

// BatchProvider refuses a request of a batch whose model is not served by a provider that has
// batches, and the models of the requests before it.
func BatchProvider(model string) *Fault {
	return &Fault{
		Kind: Invalid, Param: "model", Code: codeInvalidValue,
		Message: "model: '" + model + "' cannot be in this batch: all models of a batch must be of one provider, which has batches",
	}
}

// FileUnseen refuses a file of a key whose requests a guard checks.
func FileUnseen(guard string) *Fault {
	return notAllowed("this key may not store files: the guard '" + guard + "' cannot check them")
}

// BatchUnseen refuses a batch for a key whose requests a guard checks.
func BatchUnseen(guard string) *Fault {
	return notAllowed("this key may not create batches: the guard '" + guard + "' cannot check them")
}

// BatchUnsettled refuses a batch for a key that has a budget, if its cost could not be recorded
// later.
func BatchUnsettled() *Fault {
	return notAllowed("this key may not create batches: it has a budget, and the gateway has no ledger that could record the cost later")
}
