package pairs

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

func completionsToChat(dst, _ []byte, info *translate.RequestInfo) ([]byte, translate.Rendered, *translate.Fault) {
	return dst, translate.Rendered{}, info.Refuse(translate.Chat, "prompt", "")
}
