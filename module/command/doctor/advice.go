package doctor

import (
	"regexp"
	"strconv"
	"strings"
)

// remedy is a line of the configuration that fixes the failures whose reason matches a
// pattern. $1 in the line is the last group of the pattern, and $1-1 the number before it.
type remedy struct {
	reason *regexp.Regexp
	line   string
	trait  bool // the line has no effect on requests that are not translated
}

// remedies are the known remedies. The first match wins, so more specific patterns come
// first. The patterns match messages of providers and of the gateway.
var remedies = []remedy{
	trait(`max_completion_tokens`, "max_tokens_field max_completion_tokens"),
	trait(`max_(?:output_)?tokens.*?(?:at most|less than or equal to|maximum value of|value <=|\d >) \W?(\d+)`, "max_output_tokens $1"),
	trait(`maxOutputTokens.*? to (\d+) \(exclusive\)`, "max_output_tokens $1-1"),
	trait(`max_tokens.*?valid range.*?\[\d+, ?(\d+)\]`, "max_output_tokens $1"),
	trait(`maximum tokens you requested exceeds the model limit of (\d+)`, "max_output_tokens $1"),
	trait(`tool.?call id\b.*? length of 9\b`, "tool_call_ids nine"),
	trait(`unexpected role '?\w+'? after role '?tool`, "after_results assistant"),
	trait(`reasoning_content.*? (?:must be passed back|is missing)`, "reasoning_replay reasoning_content"),
	trait(`^(?:\d+: )?cache_control: Extra inputs`, "request_cache off"),
	trait(`\bencoding_format\b`, "encoding_format off"),
	trait(`moonshot flavored json schema`, "schema_references alone"),
	trait(`stream_options|include_usage`, "include_usage off"),
	trait(`(?i)system role not supported|support system messages|developer instruction is not enabled`, "system_role user"),
	trait(`role[^.]*\bsystem\b|does not support 'system'`, "system_role developer"),
	trait(`system message must be (?:at the beginning|first)`, "mid_system user"),
	trait(`roles must alternate`, "alternation on"),
	trait(`temperature[^.]*top_p|top_p[^.]*temperature`, "sampling one"),
	trait(`temperature|top_p`, "sampling none"),
	trait(`the stream has no input tokens`, "estimate_input_tokens on"),
	word(`closed the stream before completing|the stream has no end`, "stream_end finish"),
	word(`events of the stream are incomplete`, "format chat"),
	word(`upstream could not be reached`, "base_url <the address of the provider>"),
	word(`did not accept the gateway's credential`, "api_key <a valid key of the provider>"),
	word(`upstream did not answer in time`, "response_header_timeout 10m"),
}

// ofServers are the remedies in the blocks of servers of the Model Context Protocol.
var ofServers = []remedy{
	word(`upstream could not be reached|with a redirection`, "to <the address of the server>"),
	word(`did not accept the gateway's credential`, "auth bearer <a valid credential of the server>"),
	word(`upstream did not answer in time`, "timeout 10m"),
	word(`needs to know the user`, "caller <a header> owner"),
}

func word(reason, line string) remedy {
	return remedy{reason: regexp.MustCompile(`(?i)` + reason), line: line}
}

func trait(reason, line string) remedy {
	r := word(reason, line)
	r.trait = true
	return r
}

// adviceFor returns the line that fixes a failure, "" if none is known. bytes reports
// whether requests are not translated, so that traits have no effect.
func adviceFor(reason string, bytes bool) string { return adviceOf(remedies, reason, bytes) }

func adviceOf(remedies []remedy, reason string, bytes bool) string {
	for _, r := range remedies {
		groups := r.reason.FindStringSubmatch(reason)
		if groups == nil {
			continue
		}
		if r.trait && bytes {
			return ""
		}
		last := groups[len(groups)-1]
		if n, err := strconv.Atoi(last); err == nil {
			return strings.NewReplacer("$1-1", strconv.Itoa(n-1), "$1", last).Replace(r.line)
		}
		return r.line
	}
	return ""
}
