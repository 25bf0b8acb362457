package gemini

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// The paths of stored objects.
const (
	filesPath   = version + "/files"
	uploadsPath = format.UploadRoot + filesPath
	batchesPath = version + "/batches"
)

var objects = format.Objects{
	Paths: []format.ObjectPath{
		{Method: "POST", Kind: seal.GeminiFileID, Path: uploadsPath, Form: &upload},
		{Method: "GET", Kind: seal.GeminiFileID, Path: filesPath, Refused: fault.NoFileList},
		{Method: "GET", Kind: seal.GeminiFileID, Path: filesPath + "/{id}"},
		{Method: "DELETE", Kind: seal.GeminiFileID, Path: filesPath + "/{id}"},
		{Method: "GET", Kind: seal.GeminiFileID, Path: filesPath + "/{id}:download", Query: []string{"alt=media"}, Content: true},
		{Method: "GET", Kind: seal.GeminiFileID, Path: format.DownloadRoot + filesPath + "/{id}:download", Query: []string{"alt=media"}, Content: true},
		{Method: "POST", Kind: seal.GeminiBatchID, Path: version + models + ":batchGenerateContent", Batch: &format.Batch{Inline: true, Read: request.Batch}},
		{Method: "POST", Kind: seal.GeminiBatchID, Path: version + models + ":asyncBatchEmbedContent", Batch: &format.Batch{Inline: true, Operation: translate.Embed, Read: request.Batch}},
		{Method: "GET", Kind: seal.GeminiBatchID, Path: batchesPath, Refused: fault.NoBatchList},
		{Method: "GET", Kind: seal.GeminiBatchID, Path: batchesPath + "/{id}"},
		{Method: "DELETE", Kind: seal.GeminiBatchID, Path: batchesPath + "/{id}"},
		{Method: "POST", Kind: seal.GeminiBatchID, Path: batchesPath + "/{id}:cancel"},
	},
	OnRequest:  true,
	EditIDs:    answer.EditIDs,
	Headers:    answer.UploadHeaders,
	Ended:      answer.Ended,
	ReadResult: answer.ReadResult,
}

// upload is a file behind its description, or an upload by the protocol of Google.
var upload = format.Form{File: "file", Describes: request.CheckFile, Resumable: &resumable, Requests: &format.FileOfRequests{Read: request.Line}}

var resumable = format.Resumable{
	Protocol: "X-Goog-Upload-Protocol", Start: "resumable", Whole: "multipart",
	Command: "X-Goog-Upload-Command", Commands: []string{"upload", "finalize", "query", "cancel"}, End: "finalize",
	Length: "X-Goog-Upload-Header-Content-Length", Offset: "X-Goog-Upload-Offset", Others: []string{"X-Goog-Upload-Header-Content-Type"},
	Session: answer.Session, Kind: seal.GeminiUploadID,
}
