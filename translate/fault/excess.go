package fault

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A request may ask for more tokens than its answer can have, although its prompt fits into
// the context of the model: servers refuse the sum of both. The conversation need not be
// shortened. Clients ask again for fewer tokens if the error is worded as their own vendor
// words it, with the numbers.

// codeExcess is the code of chat and completions bodies for a request that asks for more
// tokens than its answer can have.
const codeExcess = "invalid_value"

// Excess describes a request that asks for more tokens than its answer can have. All numbers
// are tokens.
type Excess struct {
	Asked int64 // 0 if it is not known
	Most  int64 // that the answer can have, at least 1
	// Input and Context are the sizes of the prompt and of the context, which has no room
	// for both; 0 if the bound is the model's own, whatever the prompt is.
	Input, Context int64

	atLeast bool // Input is only the size at which the server stopped counting
}

// aboutTokens begins a sentence about the field with the most tokens of an answer: FastAPI writes
// body.max_tokens.
const aboutTokens = `(?:^|[-.:>] |body\W{1,3}|(?:parameter|field|value of|value for) )\W{0,2}max[_ ](?:completion_|output_|new_)?tokens\W{0,2}(?: ?\({asked}\))?[^+.]{0,35}`

// The parts of sentences about a prompt and an answer, which servers name in either order.
const (
	ofPrompt = `(?:prompt|input)[^\d−-]{0,30}{input}`
	ofAnswer = `(?:max[_ ]?(?:completion_|output_|new_)?tokens|completion|generation|output)[^\d−-]{0,20}{asked}`
)

// excessSentences are the sentences with which providers refuse such a request. A name in
// braces is a number of an Excess, which may have commas but no sign; "above" is one more than Most,
// "of" a list of numbers, the last of which is Asked and the others of which are Input, and "least"
// is set if the server has not counted all of the prompt.
var excessSentences = sync.OnceValue(func() []*regexp.Regexp {
	list := []string{
		// Anthropic: input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000
		`exceed context limit: {input} \+ {asked} > {context}`,
		// proxies: max_tokens: 32768 > context_window: 200000 - input_tokens: 190000 = available_tokens: 10000
		`max_tokens:{asked} > context_window:{context} - input_tokens:{input}`,
		// vLLM: 'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 17459 input tokens
		`too large:{asked}\. this model's maximum context length is{context} tokens and your request has{input} input tokens`,
		// vLLM: You passed 17459 input tokens and requested 32000 output tokens. However, the model's context length is only 32768 tokens
		`you passed{input} input tokens and requested{asked} output tokens.{0,60}context length is only{context} tokens`,
		// vLLM: maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt contains at least 769 input tokens
		`maximum context length is{context} tokens.{0,20}you requested{asked} output tokens and your prompt contains (?P<least>at least )?{input} input tokens`,
		// vLLM: ... and your prompt contains 77409 characters (more than 0 characters, which is the upper bound for 0 input tokens)
		`maximum context length is{context} tokens.{0,20}you requested{asked} output tokens and your prompt contains [\d,]+ characters.{0,60}(?P<least>upper bound for){input} input tokens`,
		// SGLang: maximum context length of 32768 tokens. You requested a total of 49459 tokens: 17459 tokens from the input messages and 32000 tokens for the completion
		`maximum context length of{context} tokens.{0,50}tokens:{input} tokens from the input messages and{asked} tokens for the completion`,
		// OpenAI, DeepSeek, OpenRouter, llama-cpp-python, older vLLM: maximum context length is 4097 tokens. However, you requested 4771 tokens (671 in the messages, 100 in the functions, and 4000 in the completion)
		`maximum context length is{context} tokens.{0,20}you requested (?:about )?[\d,]+ tokens [^(.]{0,20}\((?P<of>[^)−-]+ (?:(?:in|for) the (?:completion|output)))\)`,
		// Text Generation Inference: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 100 `max_new_tokens`
		`tokens \+ .max_new_tokens. must be <={context}\. given:{input} .inputs. tokens and{asked} .max_new_tokens`,
		// TensorRT-LLM: The sum of prompt length (17459.0), query length (0) and max_tokens (32000) should not exceed max_num_tokens (32768)
		`prompt length \({input}[^)]*\).{0,40}(?:max_tokens|max_new_tokens|output_len) \({asked}[^)]*\).{0,60}exceed.{0,40}\({context}`,
		// others: Prompt length 13000 + max_tokens 32000 is greater than max_seq_len 40960
		ofPrompt + `[^\d−-]{0,30}` + ofAnswer + `[^\d−-]{0,60}(?:exceed|greater|larger|more than|beyond|<=)[^\d−-]{0,50}{context}`,
		// others: Requested generation length 32000 + prompt 13000 exceeds max sequence length 40960
		ofAnswer + `[^\d−-]{0,30}` + ofPrompt + `[^\d−-]{0,60}(?:exceed|greater|larger|more than|beyond|<=)[^\d−-]{0,50}{context}`,

		// OpenAI: max_tokens is too large: 200000. This model supports at most 16384 completion tokens
		`too large:{asked}\. this model supports at most{most} completion tokens`,
		// Anthropic: max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens
		`max_tokens:{asked} >{most}, which is the maximum allowed`,
		// Google: a maxOutputTokens value of 131072 but the supported range is from 1 (inclusive) to 65537 (exclusive)
		`maxoutputtokens value of{asked} but the supported range is from 1 \(inclusive\) ?to{above} \(exclusive\)`,
		// Model Studio, DeepSeek: Range of max_tokens should be [1, 8192]; the valid range of max_tokens is [1, 8192]
		`range of max_(?:completion_|output_)?tokens (?:should be|is) \[1,{most}\]`,
		// Volcengine: Invalid `max_tokens`: integer above maximum value, expected a value <= 32768, but got 65536 instead
		`max_(?:completion_|output_)?tokens.{0,60}above maximum value[.,] expected a value <={most}, but got{asked}`,
		// Groq: `max_tokens` must be less than or equal to `8192`; Cohere: max tokens must be less than or equal to 4096;
		// others: max_tokens (32000) cannot exceed 8192. In the middle of a sentence, the name may be part of a sum.
		aboutTokens + `(?:less than or equal to|at most|no more than|no greater than|not exceed|cannot exceed|can't exceed|be <=|(?:in|within|range|between) \W?\d(?:,| and| to)){most}`,
		// others: max_tokens must be less than 8193
		aboutTokens + `be (?:<|less than|lower than|below){above}`,
		// Nebius: The maximum value for max_tokens is 8192
		`maximum (?:allowed )?value (?:for|of) \W?max_(?:completion_|output_)?tokens\W? is{most}`,
		// Zhipu: max_tokens参数非法。取值范围[1,98304]
		`max_(?:completion_|output_)?tokens.{0,40}(?:range|范围).{0,10}\[1,{most}\]`,
		// Bedrock: #/inferenceConfig/maxTokens: 100000 is not less or equal to 10000
		`/\w*max_?(?:new_?|gen_?)?(?:tokens|len): ?{asked} is not less or equal to{most}`,
		// vLLM: max_tokens=393216 cannot be greater than max_model_len=max_total_tokens=262144
		`max_(?:completion_|output_)?tokens={asked} cannot be greater than [a-z_=]+{most}`,
		// relays: max_tokens (98304) exceeds model's maximum output tokens (65536); others: max_tokens of 32000 is larger than 8192
		`max[_ ](?:completion_|output_|new_)?tokens(?: of| value)?{asked}\W{0,2} (?:exceeds|is (?:larger|greater|more|higher) than|is above|is over)[^\d+−-]{0,40}{most}`,
		// Bedrock: The maximum tokens you requested exceeds the model limit of 8192
		`maximum tokens you requested exceeds the model limit of{most}`,
	}
	return sentencesOf(list...)
})

var numberName = regexp.MustCompile(`\{([a-z]+)\}`)

// sentencesOf returns expressions for sentences with names in braces for numbers.
func sentencesOf(list ...string) []*regexp.Regexp {
	sentences := make([]*regexp.Regexp, len(list))
	for i, sentence := range list {
		sentences[i] = regexp.MustCompile(`(?is)` + numberName.ReplaceAllString(sentence, `[^\d−-]{0,3}(?P<$1>[\d,]+)`))
	}
	return sentences
}

// sum describes a request whose prompt and answer together are longer than the context, of which
// the server does not state the parts. Only the request shows whether the prompt alone fits.
type sum struct {
	context int64
	tokens  int64 // of both; 0 if they are not known
}

// sumSentences are the sentences with which providers refuse such a request.
var sumSentences = sync.OnceValue(func() []*regexp.Regexp {
	return sentencesOf(
		// Moonshot: Your request exceeded model token limit: 262144 (requested: 291351)
		`exceeded model token limit{context}(?: \(requested{tokens})?`,
		// Cerebras: Please reduce the length of the messages or completion. Current length is 45000 while limit is 40960
		`length of the messages or completion\. current length is{tokens} while limit is{context}`,
		// Cohere: total number of tokens (prompt and prediction) cannot exceed 4081 - received 6071
		`tokens \(prompt and prediction\) cannot exceed{context}[^\d]{0,20}{tokens}`,
		// SiliconFlow: max_total_tokens (45000) must be less than or equal to max_seq_len (40960)
		`max_total_tokens \({tokens}\) must be less than or equal to max_seq_len \({context}`,
	)
})

// sum returns what is known of the sum that an error is about, nil for another error.
func (d detail) sum() *sum {
	for _, sentence := range sumSentences() {
		if match := sentence.FindStringSubmatch(d.message); match != nil {
			s := new(sum)
			for i, name := range sentence.SubexpNames() {
				switch name {
				case "context":
					s.context = count(match[i])
				case "tokens":
					s.tokens = count(match[i])
				}
			}
			return s
		}
	}
	return nil
}

// excess returns what is too much if a request asks for so many tokens that its prompt fits into the
// context, else nil. estimate is that of the prompt, for servers that do not state the sum.
func (s *sum) excess(asked int64, estimate func() int64) *Excess {
	input := s.tokens - asked
	if s.tokens == 0 {
		input = estimate()
	}
	if asked == 0 || input < 1 || input >= s.context || input+asked <= s.context {
		return nil
	}
	return &Excess{Asked: asked, Most: s.context - input, Input: input, Context: s.context}
}

// Size adds what the provider of an error about tokens did not state: the tokens that the request asks
// for, 0 if they are not known, and an estimate of the prompt.
func (f *Fault) Size(asked int64, estimate func() int64) {
	switch {
	case f.Blame.Excess != nil:
		f.Blame.Excess.Complete(asked, estimate)
	case f.Blame.sum != nil:
		if e := f.Blame.sum.excess(asked, estimate); e != nil {
			f.Code, f.Blame.Excess, f.Blame.Reason = codeExcess, e, reasonExcess
		}
	}
}

// excess returns what is too much if an error of the row means that more tokens are asked for
// than the answer can have, else nil.
func (d detail) excess(row statusRow) *Excess {
	if !row.maySize() || !containsAny(d.message, "token", "max_") { // no sentence has neither
		return nil
	}
	for _, sentence := range excessSentences() {
		if match := sentence.FindStringSubmatch(d.message); match != nil {
			return excessOf(sentence.SubexpNames(), match)
		}
	}
	return nil
}

// excessOf returns the excess that a sentence states in its groups, nil if the prompt alone
// does not fit. A server that stops counting at the first token too much states no size of
// the prompt: then a request for less than half of the context has a prompt that is too long.
func excessOf(names, groups []string) *Excess {
	var e Excess
	for i, name := range names {
		n := count(groups[i])
		switch name {
		case "asked":
			e.Asked = n
		case "most":
			e.Most = n
		case "above":
			e.Most = n - 1
		case "input":
			e.Input = n
		case "context":
			e.Context = n
		case "least":
			e.atLeast = groups[i] != ""
		case "of":
			e.Input, e.Asked = parts(groups[i])
		}
	}
	if e.atLeast {
		e.Input = max(e.Input, 1)
	}
	if e.Context > 0 {
		e.Most = e.Context - e.Input
	}
	if e.Most < 1 || e.Asked > 0 && e.Asked <= e.Most || e.atLeast && e.Asked < e.Context/2 {
		return nil
	}
	return &e
}

// parts returns the tokens of a list such as "132000 of text input, 8000 in the output".
func parts(list string) (input, asked int64) {
	for word := range strings.FieldsSeq(list) {
		if n := count(word); n > 0 {
			input, asked = input+asked, n
		}
	}
	return input, asked
}

// maxCount bounds the numbers of tokens that are read.
const maxCount = 1 << 40

// count returns a number of tokens, 0 for none.
func count(digits string) int64 {
	n, _ := strconv.ParseInt(strings.ReplaceAll(digits, ",", ""), 10, 64)
	return min(n, maxCount)
}

// TooLong reports whether a provider refused the request for its number of tokens, which
// another model may accept.
func (f *Fault) TooLong() bool { return f.Code == CodeOverflow || f.Blame.Excess != nil }

// Complete adds what the provider did not state: the tokens that the request asks for, 0 if
// they are not known, and an estimate of the prompt, which is used only if the provider has
// not counted all of it.
func (e *Excess) Complete(asked int64, estimate func() int64) {
	if e.Asked == 0 && asked > e.Most {
		e.Asked = asked
	}
	if e.atLeast {
		e.Input = min(max(e.Input, estimate()), e.Context-1)
		e.Most, e.atLeast = e.Context-e.Input, false
	}
}
