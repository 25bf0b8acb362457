package pairs

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// render writes a request of one format in another. The body has passed the
// strict pass of its format.
type render func(dst, body []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault)

// renders tells the conversions by the format of the client and that of the
// provider.
var renders = map[[2]translate.Format]render{
	{translate.Messages, translate.Chat}:        messagesToChat,
	{translate.Completions, translate.Chat}:     completionsToChat,
	{translate.Completions, translate.Messages}: completionsToMessages,
}

// CanTranslate reports whether requests of the client's format can be put to
// providers of the other.
func CanTranslate(from, to translate.Format) bool {
	return renders[[2]translate.Format{from, to}] != nil
}

// Render appends to dst the request that a client sent in the format from as a
// request in the format to. The body has passed Inspect of its format. What
// cannot be carried over without changing what is asked is refused; what else
// is left behind stands in the losses. It panics unless CanTranslate.
func Render(dst []byte, from, to translate.Format, body []byte, info *translate.RequestInfo) (out []byte, r translate.Rendered, fault *translate.Fault) {
	convert := renders[[2]translate.Format{from, to}]
	if convert == nil {
		panic("pairs: no conversion from " + string(from) + " to " + string(to))
	}
	return convert(dst, body, info)
}

func messagesToChat(dst, _ []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	return dst, translate.Rendered{}, info.Refuse(translate.Chat, "messages", "")
}

func completionsToChat(dst, _ []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	return dst, translate.Rendered{}, info.Refuse(translate.Chat, "prompt", "")
}

func completionsToMessages(dst, _ []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	return dst, translate.Rendered{}, info.Refuse(translate.Messages, "prompt", "")
}
