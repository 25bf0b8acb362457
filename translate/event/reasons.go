package event

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// FinishReason is the reason why a turn ended, in the words of no format (wire
// format C.4).
type FinishReason uint8

// The finish reasons. Each format has a table to its own words.
const (
	FinishUnknown  FinishReason = iota // not stated, or an unknown word
	FinishStop                         // the end of the turn, or the stop sequence Event.Stop
	FinishLength                       // a bound: of tokens, of the context window, of time, of repetition
	FinishTools                        // tool calls wait for their results
	FinishFiltered                     // the provider refused, or filtered the answer
	FinishRefused                      // the model refused, in texts that are marked as a refusal
	FinishPaused                       // a long turn was paused and may be continued

	// Of turns that are no answer: Sender.FinishBy sends an Error in place of a Finish.
	finishBroken // the turn has failed, or was broken off
	finishBarred // the provider has limited the account
)

// CutsOff reports whether the last call of a turn that ended for the reason may be incomplete.
func (r FinishReason) CutsOff() bool {
	return r == FinishLength || r == FinishFiltered || r == FinishRefused
}

// reasonsByWord lists the words of providers for the ends of turns. A service has the same words
// in all formats that it speaks, and servers pass on the words of the engines behind them, so
// all words are in one table, in small letters with "_".
var reasonsByWord = byWord(map[FinishReason]string{
	FinishStop: "stop end_turn stop_sequence stop_token stop_criteria_met stop_condition stop_string_found stop_word" + // most services; Titan, LM Studio
		" eos eos_token eos_found eog eot endoftext end_of_text" + // Text Generation Inference, Together, AI21, llama.cpp
		" word stop_words end_id matched_token matched_str stop_sequence_reached final" + // llama.cpp, TensorRT-LLM, SGLang, Aleph Alpha, Yandex
		" end_token stop_before" + // HyperCLOVA X
		" eos_id eos_reached eot_id im_end end_of_turn end_of_message end_of_sequence stopped succeeded ok" + // names of the same in other servers
		" complete completed finish finished normal success done end", // Cohere, Titan, Baidu
	FinishLength: "length max_tokens max_length max_output_tokens max_completion_tokens max_prompt_tokens max_messages" +
		" model_context_window_exceeded model_length max_context max_len limit token_limit token_limit_reached" + // Anthropic and Zhipu, Mistral, xAI, watsonx, Azure
		" time_limit error_limit repetition" + // watsonx and xAI, Cohere, vLLM
		" max_predicted_tokens_reached context_length_reached steered" + // LM Studio, OpenAI
		" context out_of_tokens num_predict loop_detected", // Reka, KoboldCpp, Ollama
	FinishTools:  "tool_calls tool_call tool_use tool_uses function_call function_calls",
	FinishPaused: "pause_turn compaction continuation pause paused", // Anthropic, Gemini
	FinishFiltered: "content_filter content_filtered refusal guardrail_intervened sensitive error_toxic" + // Bedrock, Zhipu, Cohere
		" safety recitation blocklist prohibited_content spii language model_armor escalation" + // Gemini
		" image_safety image_prohibited_content image_recitation",
	finishBroken: "error abort aborted network_error insufficient_system_resource failed" + // vLLM and SGLang, Zhipu, DeepSeek
		" timeout timed_out preempt partial user_cancel cancelled canceled not_finished user_stopped model_unloaded load unload" + // Cohere, TensorRT-LLM, MLC, Yandex, watsonx, LM Studio, Ollama
		" malformed_function_call malformed_response malformed_tool_use malformed_model_output unexpected_tool_call" + // Gemini, Bedrock
		" too_many_tool_calls missing_thought_signature other image_other invalid incomplete", // none of its other reasons
	finishBarred: "pup_limited_disabled", // Gemini
})

// reasonsByPart lists parts of words that no end of a whole turn has, for words that
// reasonsByWord lacks and that deny nothing, as "no_error" does. The first part that is listed
// decides, in the order of the reasons.
var reasonsByPart = [...]map[string]FinishReason{
	byWord(map[FinishReason]string{FinishFiltered: "filter filtered safety unsafe sensitive moderation moderated blocked blocklist blacklist blacklisted" +
		" prohibited refusal refused policy guardrail guardrails toxic toxicity copyright recitation violation harmful inappropriate" +
		" inspection censored censorship jailbreak illegal risk spam banned"}),
	byWord(map[FinishReason]string{finishBroken: "error errors abort aborted cancel cancelled canceled fail failed failure interrupted timeout" +
		" malformed unavailable overloaded disconnect disconnected crash crashed exception insufficient killed preempted evicted" +
		" shutdown lost invalid incomplete quota rate dead oom memory reset dropped panic" +
		" terminated halted throttled throttle busy capacity overload deadline expired stalled hung unfinished rejected denied"}),
	byWord(map[FinishReason]string{FinishLength: "length limit max maximum truncated truncation exceeded window budget repetition repeat repeated loop context overflow" +
		" truncate exhausted"}),
}

func byWord(lists map[FinishReason]string) map[string]FinishReason {
	words := make(map[string]FinishReason)
	for reason, list := range lists {
		for word := range strings.FieldsSeq(list) {
			words[word] = reason
		}
	}
	return words
}

// readReason returns the reason that a word states. known is false for a word that
// reasonsByWord lacks, whose reason is none of an ordinary end.
func readReason(stated []byte) (reason FinishReason, known bool) {
	if reason, known = reasonsByWord[string(stated)]; known { // nearly always, without an allocation
		return reason, true
	}
	word := plainWord(string(stated))
	if reason, known = reasonsByWord[word]; known {
		return reason, true
	}
	if slices.ContainsFunc(strings.Split(word, "_"), isDenial) {
		return FinishUnknown, false
	}
	for _, parts := range reasonsByPart {
		for part := range strings.SplitSeq(word, "_") {
			if reason, guessed := parts[part]; guessed {
				return reason, false
			}
		}
	}
	return FinishUnknown, false
}

// isDenial reports whether a part of a word denies what the others mean.
func isDenial(part string) bool {
	return part == "no" || part == "not" || part == "none" || part == "without" || part == "free"
}

// beginnings are those of words that state only that a word is one.
var beginnings = []string{"finish_", "stop_reason_", "alternative_status_", "reason_"}

// plainWord returns a word as the tables have it: "MAX_TOKENS", "maxTokens", "max-tokens", "max tokens",
// "<|max_tokens|>" and "FINISH_REASON_MAX_TOKENS" are "max_tokens".
func plainWord(word string) string {
	plain := make([]byte, 0, len(word)+4)
	small := false
	for _, b := range []byte(word) {
		switch {
		case 'A' <= b && b <= 'Z':
			if small {
				plain = append(plain, '_')
			}
			plain = append(plain, b|' ')
		case 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b >= utf8.RuneSelf:
			plain = append(plain, b)
		default:
			plain = append(plain, '_')
		}
		small = 'a' <= b && b <= 'z'
	}
	whole := strings.Trim(string(plain), "_")
	rest := whole
	for _, beginning := range beginnings {
		rest = strings.TrimPrefix(rest, beginning)
	}
	return cmp.Or(rest, whole)
}

// Reason returns the reason that a decoded word states, FinishUnknown for an unknown word.
func Reason(word []byte) FinishReason {
	reason, _ := readReason(word)
	return reason
}

// Failure returns the fault of an answer whose turn ended with a word that means that it has
// failed or was broken off; nil for any other word. explanation is what the provider adds, for
// the log alone.
func Failure(word, explanation []byte) *fault.Fault {
	if len(word) == 0 {
		return nil
	}
	reason, _ := readReason(word)
	switch reason {
	case finishBroken:
		return fault.BrokenOff(string(word), string(explanation))
	case finishBarred:
		return fault.AccountLimited(string(word), string(explanation))
	}
	return nil
}

// FinishBy sends the reason why a turn ended, by the decoded word for it: an Error for a turn
// that has failed. Of a word that the gateway does not know, it returns the plain form, to be
// reported; such a word is never the end of a turn by itself, see Event.Name.
func (s *Sender) FinishBy(e Event, word []byte) (unknown []byte) {
	if f := Failure(word, e.Text); f != nil {
		s.Fail(f)
		return nil
	}
	reason, known := readReason(word)
	if !known {
		unknown = []byte(plainWord(string(word)))
	}
	e.Kind = Finish
	if e.Finish == FinishUnknown { // else the answer itself states the reason
		e.Finish = reason
	}
	if e.Finish == FinishUnknown {
		e.Name = word
	}
	s.Send(e)
	return unknown
}
