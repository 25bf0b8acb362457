package pairs

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func TestViewsContainTheBoundsOfARequest(t *testing.T) {
	const turn = `"model":"m","messages":[{"role":"user","content":"hi"}]`
	type much struct{ tokens, answers, prompts int64 }
	for body, c := range map[string]struct {
		format translate.Format
		want   much
	}{
		`{` + turn + `,"max_tokens":1e3}`: {translate.Messages, much{1000, 0, 0}},
		`{` + turn + `}`:                  {translate.Chat, much{}},
		`{` + turn + `,"n":3,"max_tokens":7,"max_completion_tokens":5}`:       {translate.Chat, much{7, 3, 0}},
		`{` + turn + `,"n":null,"max_tokens":null,"max_completion_tokens":5}`: {translate.Chat, much{5, 0, 0}},
		`{"model":"m","prompt":"a","max_tokens":9223372036854775807}`:         {translate.Completions, much{1<<63 - 1, 0, 0}},
		`{"model":"m","prompt":["a","b"],"n":2,"max_tokens":0}`:               {translate.Completions, much{0, 2, 2}},
		`{"model":"m","prompt":[1,2,3]}`:                                      {translate.Completions, much{}},
		`{"model":"m","prompt":[[1,2],[3],[4]]}`:                              {translate.Completions, much{0, 0, 3}},
	} {
		view, fault := formats.Of(c.format).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		assert.Equal(t, c.want, much{view.MaxTokens, view.Answers, view.Prompts}, body)
	}
}

// What a request may cost beside its texts was not known before the answer: searches, tiers,
// and files that the body only names.
func TestViewsContainWhatHasAPriceOfItsOwn(t *testing.T) {
	type priced struct {
		searches int64
		terms    token.Terms
	}
	const (
		turn   = `"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]`
		search = `{"type":"web_search_20250305","name":"web_search"`
	)
	for body, c := range map[string]struct {
		format translate.Format
		want   priced
	}{
		`{` + turn + `}`: {translate.Messages, priced{}},
		`{` + turn + `,"tools":[{"name":"web_search","max_uses":3}]}`:                                   {translate.Messages, priced{}},
		`{` + turn + `,"tools":[` + search + `}]}`:                                                      {translate.Messages, priced{searches: token.DefaultSearches}},
		`{` + turn + `,"tools":[` + search + `,"max_uses":null},{"max_uses":3,"type":"web_search_2"}]}`: {translate.Messages, priced{searches: token.DefaultSearches + 3}},
		`{` + turn + `,"tools":[` + search + `,"max_uses":9007199254740992}]}`:                          {translate.Messages, priced{searches: token.MaxSearches}},
		`{` + turn + `,"service_tier":"auto","speed":"fast","inference_geo":"us"}`:                      {translate.Messages, priced{terms: token.Fast | token.RegionUS}},
		`{` + turn + `,"service_tier":1,"speed":"standard","inference_geo":null}`:                       {translate.Messages, priced{}},
		`{` + turn + `,"service_tier":"scale","speed":"slow","inference_geo":"eu"}`:                     {translate.Messages, priced{terms: token.OtherTier | token.OtherSpeed}},
		`{` + turn + `,"service_tier":"priority"}`:                                                      {translate.Chat, priced{terms: token.Priority}},
		`{` + turn + `,"service_tier":"flex"}`:                                                          {translate.Chat, priced{terms: token.Flex}},
		`{` + turn + `,"web_search_options":{}}`:                                                        {translate.Chat, priced{searches: 1}},
		`{` + turn + `,"web_search_options":null}`:                                                      {translate.Chat, priced{}},
		`{"model":"m","input":"a","service_tier":"priority","tools":[{"type":"function","name":"f"}]}`:  {translate.Responses, priced{terms: token.Priority}},
		`{"model":"m","input":"a","tools":[{"type":"web_search"},{"type":"web_search_preview"}]}`:       {translate.Responses, priced{searches: token.DefaultSearches}},
		`{"model":"m","input":"a","max_tool_calls":4,"tools":[{"type":"web_search"}]}`:                  {translate.Responses, priced{searches: 4}},
		`{"model":"m","input":"a","max_tool_calls":4}`:                                                  {translate.Responses, priced{}},
	} {
		view, fault := formats.Of(c.format).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		assert.Equal(t, c.want, priced{view.Costs.Searches, view.Costs.Terms}, body)
	}
}

// A request that lets the provider summarize the conversation reads it twice.
func TestViewsShowWhetherTheConversationMayBeCompacted(t *testing.T) {
	const turn = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}],`
	for more, want := range map[string]bool{
		`"context_management":{"edits":[{"type":"compact_20260112"}]}`:                                         true,
		`"context_management":{"edits":[{"type":"clear_tool_uses_20250919"},{"x":1,"type":"compact\u005f9"}]}`: true,
		`"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`:                                 false,
		`"context_management":{"edits":[1,{"type":2}],"other":[]}`:                                             false,
		`"context_management":null`: false,
		`"context_management":[7]`:  false,
		`"compaction":null`:         false,
		`"compaction":{}`:           true,
	} {
		view, fault := formats.Of(translate.Messages).Requests.Inspect([]byte(turn+more+"}"), translate.Generate)
		require.Nil(t, fault, more)
		assert.Equal(t, want, view.Costs.Compacts, more)
	}
}

// A file that the body names by a URL or an id counted as the bytes of its name; and the
// files of responses requests counted as texts, a hundred times what they cost.
func TestViewsContainTheCostOfFiles(t *testing.T) {
	const (
		image, pdf, data = 1500, 3000, `"data:image/png;base64,AAAA"`
		chat             = `{"model":"m","messages":[{"role":"user","content":[%]}]}`
		messages         = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[%]}]}`
		gemini           = `{"contents":[{"role":"user","parts":[%]}]}`
		responses        = `{"model":"m","input":[{"role":"user","content":[%]},{"type":"function_call_output","call_id":"c","output":[%]}]}`
	)
	wave := base64.StdEncoding.EncodeToString([]byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data\xff\xff\xff\xff" + strings.Repeat("x", 10*32_000)))
	film := base64.StdEncoding.EncodeToString([]byte("\x00\x00\x00\x0cftypisom\x00\x00\x00\x24moov\x00\x00\x00\x1cmvhd" + strings.Repeat("\x00", 14) + "\x03\xe8\x00\x00\x75\x30" + strings.Repeat("x", 3_000_000)))
	for _, c := range []struct {
		format     translate.Format
		body, part string
		want       token.FileCosts
	}{
		{translate.Chat, chat, `{"type":"image_url","image_url":{"url":"https://a/b.png"}}`, token.FileCosts{Tokens: image}},
		{translate.Chat, chat, `{"type":"image_url","image_url":{"url":null}}`, token.FileCosts{}},
		{translate.Chat, chat, `{"type":"image_url","image_url":{"url":` + data + `}}`, token.FileCosts{Tokens: image, Bytes: 4}},
		{translate.Chat, chat, `{"type":"image_url","image_url":{"url":"DATA:Image/X-PNG; charset=x;base64,AAAA"}}`, token.FileCosts{Tokens: image, Bytes: 4}},
		{translate.Chat, chat, `{"type":"file","file":{"file_data":"data:application\/x-pdf;base64,AAAA"}}`, token.FileCosts{Tokens: pdf, Bytes: 4}},
		{translate.Chat, chat, `{"type":"file","file":{"file_data":"data:application/ogg;base64,AAAA"}}`, token.FileCosts{Tokens: 100, Bytes: 4}},
		{translate.Chat, chat, `{"type":"file","file":{"file_id":"file-1"}}`, token.FileCosts{Tokens: pdf}},
		{translate.Chat, chat, `{"type":"file","file":{"file_data":"data:text/plain;base64,AAAA"}}`, token.FileCosts{}},
		{translate.Messages, messages, `{"type":"image","source":{"type":"url","url":"https://a/b.png"}}`, token.FileCosts{Tokens: image}},
		{translate.Messages, messages, `{"source":{"file_id":"file_1","type":"file"},"type":"document"}`, token.FileCosts{Tokens: pdf}},
		{translate.Messages, messages, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"}}`, token.FileCosts{}},
		{translate.Responses, responses, `{"type":"input_image","image_url":"https://a/b.png"}`, token.FileCosts{Tokens: 2 * image}},
		{translate.Responses, responses, `{"type":"input_image","image_url":` + data + `,"file_id":null}`, token.FileCosts{Tokens: 2 * image, Bytes: 8}},
		{translate.Responses, responses, `{"type":"input_file","file_id":"file-1"}`, token.FileCosts{Tokens: 2 * pdf}},
		// A film by address cost nothing, and a recording in base64 as much as a text.
		{translate.Gemini, gemini, `{"fileData":{"fileUri":"https://a/b.mp4","mimeType":"video/mp4"}}`, token.FileCosts{Tokens: pdf}},
		{translate.Gemini, gemini, `{"fileData":{"fileUri":"https://a/b","mimeType":"text/csv"}}`, token.FileCosts{Tokens: pdf}},
		{translate.Gemini, gemini, `{"fileData":{"fileUri":"gs://a/b","mimeType":"Image/PNG"}}`, token.FileCosts{Tokens: image}},
		{translate.Gemini, gemini, `{"inlineData":{"mimeType":"audio/wav","data":"` + wave + `"}}`, token.FileCosts{Tokens: 10 * 32, Bytes: int64(len(wave))}},
		{translate.Gemini, gemini, `{"inlineData":{"mimeType":"video/mp4","data":"` + film + `"}}`, token.FileCosts{Tokens: 30 * 290, Bytes: int64(len(film))}},
		{translate.Chat, chat, `{"type":"input_audio","input_audio":{"format":"wav","data":"` + wave + `"}}`, token.FileCosts{Tokens: 10 * 32, Bytes: int64(len(wave))}},
		{translate.Chat, chat, `{"type":"input_audio","input_audio":{"data":"data:audio/wav;base64,` + wave + `"}}`, token.FileCosts{Tokens: 10 * 32, Bytes: int64(len(wave))}},
		{translate.Chat, chat, `{"type":"input_audio","input_audio":{"data":"https://a/b.wav"}}`, token.FileCosts{Tokens: pdf}},
		{translate.Chat, chat, `{"type":"audio_url","audio_url":{"url":"https://a/b.wav"}}`, token.FileCosts{Tokens: pdf}},
		{translate.Chat, chat, `{"type":"video_url","video_url":{"url":"https://a/b.mp4"}}`, token.FileCosts{Tokens: pdf}},
		{translate.Chat, chat, `{"type":"video_url","video_url":{"url":"data:video/mp4;base64,` + film + `"}}`, token.FileCosts{Tokens: 30 * 290, Bytes: int64(len(film))}},
		{translate.Chat, chat, `{"type":"file","file":{"file_data":"data:video/mp4;base64,` + film + `"}}`, token.FileCosts{Tokens: 30 * 290, Bytes: int64(len(film))}},
		{translate.Messages, messages, `{"type":"document","source":{"type":"base64","media_type":"audio/wav","data":"` + wave + `"}}`, token.FileCosts{Tokens: 10 * 32, Bytes: int64(len(wave))}},
		{translate.Messages, messages, `{"type":"video","source":{"type":"url","url":"https://a/b.mp4"}}`, token.FileCosts{Tokens: pdf}},
		{translate.Responses, responses, `{"type":"input_audio","input_audio":{"format":"wav","data":"` + wave + `"}}`, token.FileCosts{Tokens: 2 * 10 * 32, Bytes: 2 * int64(len(wave))}},
		{translate.Responses, responses, `{"type":"input_file","file_data":"data:audio/wav;base64,` + wave + `"}`, token.FileCosts{Tokens: 2 * 10 * 32, Bytes: 2 * int64(len(wave))}},
		{translate.Responses, responses, `{"type":"input_file","file_url":"https://a/b.mp4"}`, token.FileCosts{Tokens: 2 * pdf}},
		{translate.Chat, chat, `{"type":"video_url","video_url":{"url":"data:video/x-other;base64,` + wave[:2900] + `"}}`, token.FileCosts{Tokens: 300, Bytes: 2900}},
	} {
		body := []byte(strings.ReplaceAll(c.body, "%", c.part))
		view, fault := formats.Of(c.format).Requests.Inspect(body, translate.Generate)
		require.Nil(t, fault, "%s: %v", body, fault)
		assert.Equal(t, c.want, view.Costs.Files, string(body))
	}
}
