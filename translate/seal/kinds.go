package seal

// The kinds of sealed ids, by what the ids of the vendors begin with. A sealed id begins with its
// kind, since clients check it. Ids of one vendor that begin otherwise are sealed whole.
const (
	ResponseID        = "resp_"
	ConversationID    = "conv_"
	CompletionID      = "chatcmpl-"
	FileID            = "file-" // of OpenAI
	ClaudeFileID      = "file_" // of Anthropic
	UploadID          = "upload_"
	BatchID           = "batch_"
	MessageBatchID    = "msgbatch_"
	VectorStoreID     = "vs_"
	FileBatchID       = "vsfb_" // of files that are added to a vector store
	ContainerID       = "cntr_"
	ClaudeContainerID = "container_"
	ContainerFileID   = "cfile_"
	FineTuningID      = "ftjob-"
	VideoID           = "video_"
	SkillID           = "skill_"
)
