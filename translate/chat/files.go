package chat

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// files are the paths of files, of uploads, which become a file of several parts, and of batches of the
// requests in a file.
var files = []format.ObjectPath{
	{Method: "POST", Kind: seal.FileID, Path: "/v1/files", Form: &format.Form{
		File: "file", Texts: []string{request.Purpose, "expires_after[anchor]", "expires_after[seconds]"},
		Requests: &format.FileOfRequests{Text: request.Purpose, Value: request.BatchPurpose, Read: request.ReadLine},
	}},
	{Method: "GET", Kind: seal.FileID, Path: "/v1/files", Refused: fault.NoFileList},
	{Method: "GET", Kind: seal.FileID, Path: "/v1/files/{id}"},
	{Method: "DELETE", Kind: seal.FileID, Path: "/v1/files/{id}"},
	{Method: "GET", Kind: seal.FileID, Path: "/v1/files/{id}/content", Content: true},
	{Method: "POST", Kind: seal.UploadID, Path: "/v1/uploads", Check: request.CheckUpload},
	{Method: "POST", Kind: seal.UploadID, Path: "/v1/uploads/{id}/parts", Form: &format.Form{File: "data"}},
	{Method: "POST", Kind: seal.UploadID, Path: "/v1/uploads/{id}/complete", Check: request.CheckUpload},
	{Method: "POST", Kind: seal.UploadID, Path: "/v1/uploads/{id}/cancel"},
	{Method: "POST", Kind: seal.BatchID, Path: "/v1/batches", Batch: &format.Batch{Read: request.BatchOf}},
	{Method: "GET", Kind: seal.BatchID, Path: "/v1/batches", Refused: fault.NoBatchList},
	{Method: "GET", Kind: seal.BatchID, Path: "/v1/batches/{id}"},
	{Method: "POST", Kind: seal.BatchID, Path: "/v1/batches/{id}/cancel"},
}
